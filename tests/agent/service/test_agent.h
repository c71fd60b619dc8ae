// An agent on a fake node: everything of houtu-agent but containers and masters, its sessions over
// mTLS on the loopback.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/service/agent_shell.h"
#include "agent/service/task_service.h"
#include "common/http/metrics.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "tests/agent/images/temp_folder.h"
#include "tests/agent/runtime/fake_runtime.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu::agent {

/// FakeRuntime with the folders that tasks' folders are made in.
class FolderRuntime : public houtu::testing::FakeRuntime {
 public:
  using FakeRuntime::FakeRuntime;
  absl::Status StartContainer(const ContainerSpec& spec) override;

  int started() const { return started_; }

 private:
  std::atomic<int> started_ = 0;
};

/// Notes what the agent tells its master.
class FakeMaster : public MasterLink {
 public:
  void Send(v1::AgentMessage message) override;
  void Reconnect(const std::string& /*reason*/) override {}

  /// Each takes what it waited for and all that came before.
  /// Waits for a report of this lease in this state.
  v1::LeaseReport Await(const std::string& lease_id, v1::LeaseReport::State state);
  /// Waits for a refusal.
  std::string AwaitRefusal();

 private:
  template <typename Match>
  v1::AgentMessage AwaitMessage(Match match);

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<v1::AgentMessage> messages_;
};

/// What outlives an agent's process: its disk and its containers.
struct TestMachine {
  TestMachine();

  houtu::testing::TempFolder folder;
  std::shared_ptr<houtu::testing::FakeNode> node = std::make_shared<houtu::testing::FakeNode>();
  /// New agents' runtimes begin with these.
  houtu::testing::FakeRuntime::Knobs knobs;
  v1::AgentConfig config;
  WorkPaths paths;
};

/// One process of the agent "n1" of "dc1". Its end ends no container. Owner: a test.
class TestAgent {
 public:
  TestAgent(TestPki* pki, TestMachine* machine);
  ~TestAgent();

  std::string address() const;
  /// Gives the agent a worker's lease of 8 cpu and waits until its container runs.
  void Lease(const std::string& id, const std::string& job, const std::string& token);
  void Command(v1::MasterCommand command, int64_t term = 1);

  /// A lasting program of the attempt writes a file into its output folder.
  void Write(const v1::TaskSpec& spec, const std::string& name, const std::string& text) const;
  /// A lasting program ends by itself.
  void EndTask(const v1::TaskSpec& spec, int exit_status = 0);

  FakeMaster& master() { return master_; }
  FolderRuntime& runtime() { return runtime_; }
  PartitionStore& store() { return store_; }

 private:
  class HostRoot;

  TestMachine* const machine_;
  FakeMaster master_;
  FolderRuntime runtime_;
  std::unique_ptr<RootfsSource> rootfs_;
  LeaseRecords records_;
  JobRegistry jobs_;
  PartitionStore store_;
  DataRoots roots_;
  LogStore logs_;
  InputSource inputs_;
  Metrics metrics_;
  AgentMetrics agent_metrics_;
  EventLoop loop_;
  AgentShell shell_;
  TaskService tasks_;
  std::unique_ptr<RpcServer> server_;
};

/// A job manager's session, from its side.
class TestManager {
 public:
  /// `role` as in its certificate.
  TestManager(TestPki* pki, const TestAgent& agent,
              const std::string& role = "houtu:manager/dc1/n1");
  ~TestManager();

  void Send(const v1::TaskCommand& command) { stream_->Write(command); }
  /// The hello of a manager of dc1.
  void Hello(const std::string& job, const std::string& token, int64_t term = 1);
  void Start(const std::vector<v1::TaskSpec>& specs);
  void Acknowledge(const std::vector<v1::TaskSpec>& specs);

  /// The agent's next message; the stream's status, if it ends instead.
  absl::StatusOr<v1::TaskMessage> Next();
  /// The attempts that the welcome lists. Aborts if no welcome comes.
  std::vector<v1::TaskReport> Welcome();
  /// Waits for a report of the attempt in this state.
  v1::TaskReport Await(const v1::TaskSpec& spec, v1::TaskReport::State state);
  /// Waits for the session's end.
  absl::Status End();

 private:
  ChannelPool channels_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::TaskCommand, v1::TaskMessage>> stream_;
  bool ended_ = false;
};

/// A task of stage "s" that runs until it is ended.
v1::TaskSpec SpecOf(const std::string& job, const std::string& lease, int task,
                    const std::string& program = "lasts");

}  // namespace houtu::agent
