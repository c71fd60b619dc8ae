#include "tests/agent/service/test_agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/ids.h"
#include "common/base/resources.h"
#include "common/rpc/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMemory = 64 << 20;

/// No other node is asked for anything in these tests.
class NoRemote : public RemoteFiles {
 public:
  absl::Status FetchPartitions(const std::string&, const v1::FetchPartitionsRequest&,
                               const ChunkSink&, std::vector<v1::PartitionRef>*) override {
    return absl::UnavailableError("there is no other node");
  }
  absl::Status FetchInput(const std::string&, const v1::FetchInputRequest&,
                          const ChunkSink&) override {
    return absl::UnavailableError("there is no other node");
  }
};

NoRemote& TheRemote() {
  static NoRemote remote;
  return remote;
}

v1::Node NodeN1() {
  v1::Node node;
  node.set_datacenter("dc1");
  node.set_name("n1");
  return node;
}

}  // namespace

absl::Status FolderRuntime::StartContainer(const ContainerSpec& spec) {
  const LeaseFolder folder(spec.lease_dir);
  fs::create_directories(folder.tasks());
  fs::create_directories(folder.started());
  ++started_;
  return FakeRuntime::StartContainer(spec);
}

void FakeMaster::Send(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(message));
  came_.notify_all();
}

template <typename Match>
v1::AgentMessage FakeMaster::AwaitMessage(Match match) {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = std::find_if(messages_.begin(), messages_.end(), match);
    if (found != messages_.end()) {
      v1::AgentMessage message = *found;
      messages_.erase(messages_.begin(), found + 1);
      return message;
    }
    came_.wait(lock);
  }
}

v1::LeaseReport FakeMaster::Await(const std::string& lease_id, v1::LeaseReport::State state) {
  return AwaitMessage([&](const v1::AgentMessage& message) {
           return message.has_lease() && message.lease().lease().id() == lease_id &&
                  message.lease().state() == state;
         })
      .lease();
}

std::string FakeMaster::AwaitRefusal() {
  return AwaitMessage([](const v1::AgentMessage& message) { return message.has_refused(); })
      .refused()
      .reason();
}

TestMachine::TestMachine() : paths(folder.path() / "work") {
  config.set_datacenter("dc1");
  config.set_node("n1");
  config.set_uid_base(100'000);
  config.set_pids_max(64);
  config.set_log_bytes_max(1 << 20);
  houtu::testing::FakeProgram lasts;
  lasts.lasts = true;
  node->programs["lasts"] = lasts;
  node->programs["ends"] = {};
}

class TestAgent::HostRoot : public RootfsSource {
 public:
  absl::StatusOr<fs::path> Prepare(const std::string&, const fs::path& lease_dir) override {
    return lease_dir;
  }
  absl::Status Release(const fs::path&) override { return absl::OkStatus(); }
};

TestAgent::TestAgent(TestPki* pki, TestMachine* machine)
    : machine_(machine),
      runtime_(machine->node),
      rootfs_(std::make_unique<HostRoot>()),
      records_(machine->paths),
      jobs_(machine->paths.jobs()),
      store_(machine->paths.partitions()),
      roots_({}),
      logs_(machine->paths.logs()),
      inputs_({.datacenter = "dc1", .node = "n1", .sleep = [](absl::Duration) {}}, &roots_, &store_,
              &TheRemote()),
      agent_metrics_(&metrics_, "dc1"),
      shell_({.config = &machine->config,
              .paths = &machine->paths,
              .records = &records_,
              .jobs = &jobs_,
              .store = &store_,
              .roots = &roots_,
              .inputs = &inputs_,
              .logs = &logs_,
              .runtime = &runtime_,
              .rootfs = rootfs_.get(),
              .metrics = &agent_metrics_,
              .loop = &loop_},
             {.node = NodeN1()}),
      tasks_(&loop_, &shell_) {
  runtime_.knobs = machine->knobs;
  shell_.SetLinks(&master_, &tasks_);
  const absl::Status started = shell_.Start();
  HOUTU_CHECK(started.ok(), started.ToString());
  shell_.Post(MasterConnected{});
  auto server = RpcServer::Start("127.0.0.1:0", pki->Issue("houtu:agent/dc1/n1"), {&tasks_});
  HOUTU_CHECK(server.ok(), server.status().ToString());
  server_ = *std::move(server);
}

TestAgent::~TestAgent() {
  server_->Shutdown(absl::ZeroDuration());
  loop_.Stop();
}

std::string TestAgent::address() const { return fmt::format("127.0.0.1:{}", server_->port()); }

void TestAgent::Command(v1::MasterCommand command, int64_t term) {
  command.set_term(term);
  shell_.Post(MasterSaid{std::move(command)});
}

void TestAgent::Lease(const std::string& id, const std::string& job, const std::string& token) {
  v1::MasterCommand command;
  v1::Lease& lease = *command.mutable_start()->mutable_lease();
  lease.set_id(id);
  lease.set_job(job);
  lease.set_account("alice");
  lease.set_kind(v1::Lease::KIND_WORKER);
  lease.set_token_sha256(Sha256(token));
  *lease.mutable_resources() = Resources(8000, 8 * kMemory).ToProto();
  Command(std::move(command));
  master_.Await(id, v1::LeaseReport::STATE_READY);
}

void TestAgent::Write(const v1::TaskSpec& spec, const std::string& name,
                      const std::string& text) const {
  houtu::testing::WriteText(machine_->paths.task(spec.lease_id(), KeyOf(spec.id())) / "out" / name,
                            text);
}

void TestAgent::EndTask(const v1::TaskSpec& spec, int exit_status) {
  runtime_.EndTask(machine_->paths.lease(spec.lease_id()), KeyOf(spec.id()), exit_status, 0);
}

TestManager::TestManager(TestPki* pki, const TestAgent& agent, const std::string& role)
    : channels_(pki->Issue(role)),
      stub_(v1::AgentService::NewStub(channels_.Get(agent.address()))),
      stream_(stub_->Session(&context_)) {}

TestManager::~TestManager() {
  context_.TryCancel();
  if (!ended_) {
    End().IgnoreError();
  }
}

void TestManager::Hello(const std::string& job, const std::string& token, int64_t term) {
  v1::TaskCommand command;
  command.mutable_hello()->set_job(job);
  command.mutable_hello()->set_datacenter("dc1");
  command.mutable_hello()->set_term(term);
  command.mutable_hello()->set_token(token);
  Send(command);
}

void TestManager::Start(const std::vector<v1::TaskSpec>& specs) {
  v1::TaskCommand command;
  command.mutable_start()->mutable_tasks()->Assign(specs.begin(), specs.end());
  Send(command);
}

void TestManager::Acknowledge(const std::vector<v1::TaskSpec>& specs) {
  v1::TaskCommand command;
  for (const v1::TaskSpec& spec : specs) {
    *command.mutable_acknowledge()->add_ids() = spec.id();
  }
  Send(command);
}

absl::StatusOr<v1::TaskMessage> TestManager::Next() {
  v1::TaskMessage message;
  if (stream_->Read(&message)) {
    return message;
  }
  ended_ = true;
  const absl::Status status = FromGrpc(stream_->Finish());
  return status.ok() ? absl::CancelledError("the session ended well") : status;
}

std::vector<v1::TaskReport> TestManager::Welcome() {
  const absl::StatusOr<v1::TaskMessage> message = Next();
  HOUTU_CHECK(message.ok(), message.status().ToString());
  HOUTU_CHECK(message->has_welcome(), message->ShortDebugString());
  return {message->welcome().tasks().begin(), message->welcome().tasks().end()};
}

v1::TaskReport TestManager::Await(const v1::TaskSpec& spec, v1::TaskReport::State state) {
  while (true) {
    const absl::StatusOr<v1::TaskMessage> message = Next();
    HOUTU_CHECK(message.ok(), message.status().ToString());
    HOUTU_CHECK(message->has_reports(), message->ShortDebugString());
    for (const v1::TaskReport& report : message->reports().reports()) {
      if (KeyOf(report.id()) == KeyOf(spec.id()) && report.state() == state) {
        return report;
      }
    }
  }
}

absl::Status TestManager::End() {
  absl::StatusOr<v1::TaskMessage> message = Next();
  while (message.ok()) {
    message = Next();
  }
  return message.status();
}

v1::TaskSpec SpecOf(const std::string& job, const std::string& lease, int task,
                    const std::string& program) {
  v1::TaskSpec spec;
  spec.mutable_id()->set_job(job);
  spec.mutable_id()->set_stage("s");
  spec.mutable_id()->set_task(task);
  spec.mutable_id()->set_attempt(1);
  spec.set_lease_id(lease);
  spec.add_command(program);
  *spec.mutable_resources() = Resources(10, kMemory / 64).ToProto();
  return spec;
}

}  // namespace houtu::agent
