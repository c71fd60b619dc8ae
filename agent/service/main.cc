// houtu-agent: runs tasks on one node. Its end ends no container: the next agent finds them again.
#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "agent/images/rootfs.h"
#include "agent/partitions/files.h"
#include "agent/runtime/runc_runtime.h"
#include "agent/service/agent_config.h"
#include "agent/service/agent_shell.h"
#include "agent/service/manager_files.h"
#include "agent/service/master_session.h"
#include "agent/service/partition_service.h"
#include "agent/service/remote_files.h"
#include "agent/service/task_service.h"
#include "common/base/status.h"
#include "common/http/http_server.h"
#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "common/rpc/tls_material.h"
#include "common/yaml/loader.h"
#include "common/yaml/problem.h"

namespace houtu::agent {
namespace {

/// Threads that read the disk for others.
constexpr int kReaders = 4;
/// Threads that write jobs' results.
constexpr int kWriters = 4;

std::vector<std::filesystem::path> Paths(
    const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

/// No container sees other leases' files, nor data that its job did not name.
std::vector<std::filesystem::path> MaskedPaths(const v1::AgentConfig& config) {
  std::vector<std::filesystem::path> paths = Paths(config.data_roots());
  paths.emplace_back(config.work_dir());
  return paths;
}

absl::StatusOr<std::unique_ptr<RuncRuntime>> MakeRuntime(const v1::AgentConfig& config) {
  return RuncRuntime::Create({.runc = config.runc(),
                              .state_dir = std::filesystem::path(config.work_dir()) / "runc",
                              .program_dir = config.program_dir(),
                              .cgroup_parent = config.cgroup_parent(),
                              .masked_paths = MaskedPaths(config)});
}

absl::Status Ready(const AgentShell& shell) {
  return shell.registered() ? absl::OkStatus()
                            : absl::UnavailableError("not registered with a leading master");
}

/// Blocks until SIGTERM or SIGINT; both must be blocked in every thread.
void AwaitSignal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  LogInfo("stopping", {{"signal", signal}});
}

template <typename Function>
void OnLoop(EventLoop* loop, Function function) {
  std::promise<void> done;
  loop->Post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

/// From the recovery of what an earlier agent left until a signal.
absl::Status Serve(const v1::AgentConfig& config, const TlsMaterial& tls,
                   const std::vector<grpc::Service*>& services, const Metrics* metrics,
                   AgentShell* shell, const sigset_t& signals,
                   const std::function<void()>& look_for_master) {
  HOUTU_RETURN_IF_ERROR(shell->Start());
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> server,
                         RpcServer::Start(config.address(), tls, services));
  std::unique_ptr<HttpServer> http;
  if (!config.http_address().empty()) {
    HOUTU_ASSIGN_OR_RETURN(http, HttpServer::Start({.address = config.http_address(),
                                                    .metrics = metrics,
                                                    .readyz = [shell] { return Ready(*shell); }}));
  }
  look_for_master();
  LogInfo("started", {{"node", config.node()}, {"address", config.address()}});
  AwaitSignal(signals);
  server->Shutdown(absl::Seconds(1));
  return absl::OkStatus();
}

absl::Status Run(const v1::AgentConfig& config, const sigset_t& signals) {
  HOUTU_ASSIGN_OR_RETURN(const TlsMaterial tls, LoadTls(config.tls()));
  const WorkPaths paths(config.work_dir());
  HOUTU_RETURN_IF_ERROR(MakeFolders(paths.root()));
  HOUTU_RETURN_IF_ERROR(StoreManagerProgram(config.program_dir() + "/houtu-jobmanager", paths));
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<RuncRuntime> runtime, MakeRuntime(config));
  ImageRootfs rootfs({.images_dir = paths.root() / "images",
                      .image_roots = Paths(config.image_roots()),
                      .umoci = config.umoci()});
  const LeaseRecords records(paths);
  const JobRegistry jobs(paths.jobs());
  const PartitionStore store(paths.partitions());
  const DataRoots roots({config.data_roots().begin(), config.data_roots().end()});
  LogStore logs(paths.logs());
  Metrics metrics;
  AgentMetrics agent_metrics(&metrics, config.datacenter());
  ChannelPool channels(tls);
  EventLoop loop;
  GrpcRemoteFiles remote(&channels);
  const OutputWriter outputs({.datacenter = config.datacenter(),
                              .node = config.node(),
                              .roots = {config.output_roots().begin(), config.output_roots().end()},
                              .retry = {.sleep = absl::SleepFor}},
                             &store, &remote);
  const InputSource inputs(
      {.datacenter = config.datacenter(), .node = config.node(), .sleep = absl::SleepFor}, &roots,
      &store, &remote);

  AgentShell shell({.config = &config,
                    .paths = &paths,
                    .records = &records,
                    .jobs = &jobs,
                    .store = &store,
                    .roots = &roots,
                    .inputs = &inputs,
                    .logs = &logs,
                    .runtime = runtime.get(),
                    .rootfs = &rootfs,
                    .metrics = &agent_metrics,
                    .loop = &loop},
                   {.node = NodeOf(config, runtime->Features()),
                    .disk_reserve_bytes = config.disk_reserve_bytes()});
  auto session = std::make_unique<MasterSession>(
      MasterSession::Options{.loop = &loop,
                             .channels = &channels,
                             .datacenter = config.datacenter(),
                             .zookeeper = config.zookeeper(),
                             .post = [&shell](Event event) { shell.Post(std::move(event)); }});
  TaskService tasks(&loop, &shell);
  shell.SetLinks(session.get(), &tasks);
  WorkerPool readers(kReaders);
  WorkerPool writers(kWriters);
  PartitionService partitions({.datacenter = config.datacenter(),
                               .jobs = &jobs,
                               .store = &store,
                               .roots = &roots,
                               .logs = &logs,
                               .outputs = &outputs,
                               .readers = &readers,
                               .writers = &writers,
                               .loop = &loop});
  const absl::Status status = Serve(config, tls, {&tasks, &partitions}, &metrics, &shell, signals,
                                    [&] { loop.Post([&session] { session->Start(); }); });
  OnLoop(&loop, [&session] { session.reset(); });
  loop.Stop();
  return status;
}

}  // namespace
}  // namespace houtu::agent

int main(int argc, char** argv) {
  CLI::App app("houtu-agent: runs tasks on one node");
  std::string path;
  app.add_option("--config", path, "configuration file (AgentConfig in YAML)")->required();
  CLI11_PARSE(app, argc, argv);
  houtu::v1::AgentConfig config;
  if (const auto problems = houtu::yaml::LoadYamlFile(path, &config); !problems.empty()) {
    std::cerr << houtu::yaml::DescribeAll(path, problems) << std::endl;
    return 2;
  }
  houtu::InitLogging("agent", config.logging().level());
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  absl::StatusOr<houtu::v1::AgentConfig> complete = houtu::agent::CompleteConfig(std::move(config));
  const absl::Status status =
      complete.ok() ? houtu::agent::Run(*complete, signals) : complete.status();
  if (!status.ok()) {
    houtu::LogError("can't run", {{"status", status}});
    return 1;
  }
  return 0;
}
