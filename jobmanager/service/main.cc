// houtu-jobmanager --config FILE: one job's manager in one datacenter.
//
// Exits with 0 when the job ended and that is recorded, with 2 for a wrong configuration, else with
// 1: its master then starts another one, which goes on where this one ended.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/coordination/blocking.h"
#include "common/coordination/zookeeper.h"
#include "common/http/http_server.h"
#include "common/log/log.h"
#include "common/loop/event_loop.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/tls_material.h"
#include "common/yaml/loader.h"
#include "jobmanager/service/peer_service.h"
#include "jobmanager/service/recovery.h"
#include "jobmanager/service/shell.h"

namespace houtu::jobmanager {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Seconds(30);
constexpr absl::Duration kDefaultSessionTimeout = absl::Seconds(6);
constexpr absl::Duration kDefaultPeriod = absl::Seconds(1);
constexpr char kDefaultRoot[] = "/houtu/v1";

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    return Error(absl::StatusCode::kFailedPrecondition, "token_file {}: can't be read", path);
  }
  return text.str();
}

absl::StatusOr<std::unique_ptr<coordination::ZookeeperCoordination>> Connect(
    const v1::ZooKeeper& config, EventLoop* loop) {
  return coordination::ZookeeperCoordination::Start(
      {.servers = absl::StrJoin(config.servers(), ","),
       .root = config.root().empty() ? kDefaultRoot : config.root(),
       .session_timeout = DurationOr(config.has_session_timeout(), config.session_timeout(),
                                     kDefaultSessionTimeout)},
      [loop](std::function<void()> function) { loop->Post(std::move(function)); });
}

// Everything that lives as long as the process; what belongs to the loop's thread is ended there.
class Process {
 public:
  explicit Process(v1::JobManagerConfig config) : config_(std::move(config)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  absl::Status Run() {
    HOUTU_ASSIGN_OR_RETURN(const TlsMaterial tls, LoadTls(config_.tls()));
    HOUTU_ASSIGN_OR_RETURN(token_, ReadToken(config_.token_file()));
    HOUTU_ASSIGN_OR_RETURN(zookeeper_, Connect(config_.zookeeper(), &loop_));
    channels_ = std::make_unique<ChannelPool>(tls);
    HOUTU_ASSIGN_OR_RETURN(server_, PeerServer::Start(config_.host(), tls, &loop_));
    HOUTU_ASSIGN_OR_RETURN(http_, HttpServer::Start({.address = config_.host() + ":0",
                                                     .metrics = &metrics_,
                                                     .readyz = [this] { return Ready(); }}));
    HOUTU_RETURN_IF_ERROR(StartShell());
    ready_ = true;
    return ended_.get_future().get();
  }

  /// Ends the sessions; no later than this nothing more is decided.
  void Close() {
    OnLoop([this] {
      shell_.reset();
      zookeeper_.reset();
    });
  }

 private:
  absl::Status Ready() const {
    return ready_ ? absl::OkStatus() : absl::UnavailableError("the job's records are being read");
  }

  absl::Status StartShell() {
    const coordination::BlockingCoordination store(zookeeper_.get(), kConnectTimeout);
    HOUTU_RETURN_IF_ERROR(store.AwaitConnected());
    const RecordPaths paths;
    HOUTU_ASSIGN_OR_RETURN(v1::JobRecord job, ReadJob(store, paths, config_.job()));
    HOUTU_ASSIGN_OR_RETURN(const int64_t term,
                           TakeTerm(store, paths, config_,
                                    {.grpc = server_->port(), .http = http_->port()}, absl::Now()));
    HOUTU_ASSIGN_OR_RETURN(Recovered recovered,
                           ReadRecords(store, paths, job, config_.datacenter()));
    LogInfo("manager starts",
            {{"job", config_.job()}, {"datacenter", config_.datacenter()}, {"term", term}});
    JobContext context{
        .job = std::move(job),
        .datacenter = config_.datacenter(),
        .node = config_.node(),
        .term = term,
        .period = DurationOr(config_.has_period(), config_.period(), kDefaultPeriod)};
    OnLoop([&] {
      shell_ = std::make_unique<Shell>(Shell::Options{
          .loop = &loop_,
          .coordination = zookeeper_.get(),
          .channels = channels_.get(),
          .context = std::move(context),
          .recovered = std::move(recovered),
          .token = token_,
          .metrics = &manager_metrics_,
          .on_end = [this](absl::Status status) { ended_.set_value(std::move(status)); }});
    });
    server_->Serve(config_.job(), token_, [this](const Event& event) {
      if (shell_ != nullptr) {
        shell_->Tell(event);
      }
    });
    return absl::OkStatus();
  }

  template <typename Function>
  void OnLoop(Function function) {
    std::promise<void> done;
    loop_.Post([&] {
      function();
      done.set_value();
    });
    done.get_future().wait();
  }

  const v1::JobManagerConfig config_;
  EventLoop loop_;
  std::string token_;
  std::promise<absl::Status> ended_;
  std::unique_ptr<ChannelPool> channels_;
  std::unique_ptr<coordination::ZookeeperCoordination> zookeeper_;
  std::unique_ptr<Shell> shell_;
  std::unique_ptr<PeerServer> server_;
  Metrics metrics_;
  ManagerMetrics manager_metrics_{&metrics_};
  std::atomic<bool> ready_ = false;
  std::unique_ptr<HttpServer> http_;
};

/// Returns only for a wrong configuration.
int Main(const std::string& config_path) {
  v1::JobManagerConfig config;
  const auto problems = yaml::LoadYamlFile(config_path, &config);
  if (!problems.empty()) {
    std::fputs(yaml::DescribeAll(config_path, problems).c_str(), stderr);
    return 2;
  }
  InitLogging("jobmanager", config.logging().level());
  int exit_status = 0;
  // Never freed: threads of gRPC may still post to its loop while the process exits.
  auto* process = new Process(std::move(config));
  if (const absl::Status status = process->Run(); status.ok()) {
    LogInfo("manager ends, the job has ended");
  } else {
    LogError("manager ends", {{"status", status}});
    exit_status = 1;
  }
  process->Close();
  std::fflush(nullptr);
  std::_Exit(exit_status);
}

}  // namespace
}  // namespace houtu::jobmanager

int main(int argc, char** argv) {
  CLI::App app("The manager of one job in one datacenter; agents start it");
  std::string config;
  app.add_option("--config", config, "Configuration, YAML (JobManagerConfig)")->required();
  CLI11_PARSE(app, argc, argv);
  return houtu::jobmanager::Main(config);
}
