// houtu-master: a datacenter's master.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "common/base/time.h"
#include "common/http/http_server.h"
#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "common/rpc/tls_material.h"
#include "common/yaml/loader.h"
#include "common/yaml/problem.h"
#include "master/service/agent_master_service.h"
#include "master/service/client_service.h"
#include "master/service/job_master_service.h"
#include "master/service/master_service.h"
#include "master/service/master_shell.h"

namespace houtu::master {
namespace {

/// Threads that serve clients' requests: each blocks on ZooKeeper for its request's time.
constexpr int kWorkers = 8;

absl::Status CheckConfig(const v1::MasterConfig& config) {
  if (!config.policy().empty() && config.policy() != "fair") {
    return absl::InvalidArgumentError("policy: \"" + config.policy() +
                                      "\" is not known; write fair");
  }
  return absl::OkStatus();
}

MasterCore::Options CoreOptions(const v1::MasterConfig& config) {
  MasterCore::Options options;
  options.datacenter = config.datacenter();
  options.node_timeout =
      DurationOr(config.has_node_timeout(), config.node_timeout(), options.node_timeout);
  options.heartbeat_interval = DurationOr(config.has_heartbeat_interval(),
                                          config.heartbeat_interval(), options.heartbeat_interval);
  if (config.has_manager_resources()) {
    options.manager_resources = Resources::FromProto(config.manager_resources());
  }
  return options;
}

/// Blocks until SIGTERM or SIGINT; both must be blocked in every thread.
void AwaitSignal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  LogInfo("stopping", {{"signal", signal}});
}

absl::Status Run(const v1::MasterConfig& config, const sigset_t& signals) {
  absl::StatusOr<TlsMaterial> tls = LoadTls(config.tls());
  if (!tls.ok()) {
    return tls.status();
  }
  Metrics metrics;
  MasterMetrics master_metrics(&metrics, config.policy().empty() ? "fair" : config.policy());
  SharedView view;
  ChannelPool channels(*tls);
  EventLoop loop;
  WorkerPool workers(kWorkers);
  MasterShell shell({.config = config, .core = CoreOptions(config)}, &loop, &workers, &view,
                    &master_metrics);
  ClientServiceShell clients({.loop = &loop,
                              .workers = &workers,
                              .view = &view,
                              .shell = &shell,
                              .channels = &channels,
                              .metrics = &master_metrics,
                              .config = config});
  AgentMasterServiceShell agents(&loop, &shell, config.datacenter());
  JobMasterServiceShell managers(&loop, &shell, config.datacenter());
  MasterServiceShell masters(&loop, &shell, &view);
  absl::StatusOr<std::unique_ptr<RpcServer>> server =
      RpcServer::Start(config.address(), *tls, {&clients, &agents, &managers, &masters});
  if (!server.ok()) {
    return server.status();
  }
  std::unique_ptr<HttpServer> http;
  if (!config.http_address().empty()) {
    absl::StatusOr<std::unique_ptr<HttpServer>> started = HttpServer::Start(
        {.address = config.http_address(), .metrics = &metrics, .readyz = [&view] {
           return view.RequireLeading().status();
         }});
    if (!started.ok()) {
      return started.status();
    }
    http = *std::move(started);
  }
  loop.Post([&shell] { shell.Start(); });
  LogInfo("started", {{"name", config.name()}, {"address", config.address()}});
  AwaitSignal(signals);
  loop.Post([&shell] { shell.Stop(); });
  (*server)->Shutdown(absl::Seconds(1));
  workers.Stop();  // before the loop: they wait for its answers
  loop.Stop();
  return absl::OkStatus();
}

}  // namespace
}  // namespace houtu::master

int main(int argc, char** argv) {
  CLI::App app("houtu-master: a datacenter's master");
  std::string path;
  app.add_option("--config", path, "configuration file (MasterConfig in YAML)")->required();
  CLI11_PARSE(app, argc, argv);
  houtu::v1::MasterConfig config;
  if (const auto problems = houtu::yaml::LoadYamlFile(path, &config); !problems.empty()) {
    std::cerr << houtu::yaml::DescribeAll(path, problems) << std::endl;
    return 2;
  }
  houtu::InitLogging("master", config.logging().level());
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  absl::Status status = houtu::master::CheckConfig(config);
  if (status.ok()) {
    status = houtu::master::Run(config, signals);
  }
  if (!status.ok()) {
    houtu::LogError("can't run", {{"status", status}});
    return 1;
  }
  return 0;
}
