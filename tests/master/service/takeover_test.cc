// A standby takes over: leases that run stay, nothing is granted twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/ids.h"
#include "houtu/v1/record.pb.h"
#include "tests/master/service/test_client.h"
#include "tests/master/service/test_cluster.h"

namespace houtu::master {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

v1::LeaseReport Ready(const v1::Lease& lease) {
  v1::LeaseReport report;
  *report.mutable_lease() = lease;
  report.set_state(v1::LeaseReport::STATE_READY);
  return report;
}

class TakeoverTest : public ::testing::Test {
 protected:
  void StartJob(const MasterProcess& master) {
    agent_.emplace(cluster_.Channel("agent/dc1/n1", master.address()), "dc1", "n1");
    agent_->Register();
    job_ = NewJobId();
    const auto answer =
        TestClient(cluster_.Channel("client/alice", master.address())).Submit(job_, SmallJob());
    ASSERT_TRUE(answer.ok()) << answer.status();
    const v1::StartLease start = agent_->NextStart();
    ASSERT_EQ(start.lease().kind(), v1::Lease::KIND_MANAGER);
    token_ = start.manager_token();
    EXPECT_EQ(start.lease().token_sha256(), Sha256(token_));
    Hold(start.lease());
    // What a manager writes when it starts.
    v1::ManagerRecord record;
    record.set_node("n1");
    record.set_lease_id(start.lease().id());
    ASSERT_TRUE(cluster_.store()
                    ->Create(cluster_.paths().Manager(job_, "dc1"), record.SerializeAsString())
                    .ok());
    manager_.emplace(cluster_.Channel("manager/dc1/n1", master.address()));
    manager_->Hello(job_, "dc1", token_);
    EXPECT_THAT(manager_->AwaitWelcome().leases(), IsEmpty());
  }
  void Hold(const v1::Lease& lease) {
    agent_->Report(lease, v1::LeaseReport::STATE_ACCEPTED);
    agent_->Report(lease, v1::LeaseReport::STATE_READY);
    held_.push_back(Ready(lease));
  }

  TestCluster cluster_;
  std::string job_;
  std::string token_;
  std::vector<v1::LeaseReport> held_;
  std::optional<TestAgent> agent_;
  std::optional<TestManager> manager_;
};

TEST_F(TakeoverTest, RunningLeasesStayWhenTheMasterIsKilled) {
  const auto first = cluster_.StartLeader("dc1", "m1");
  const auto standby = cluster_.Start("dc1", "m2");
  StartJob(*first);
  manager_->Want(2);
  for (int i = 0; i < 2; ++i) {
    Hold(agent_->NextStart().lease());
    EXPECT_EQ(manager_->NextGrant().lease().id(), held_.back().lease().id());
  }
  const std::vector<std::string> workers = {held_[1].lease().id(), held_[2].lease().id()};

  first->Kill();
  EXPECT_TRUE(absl::IsUnavailable(agent_->stream().AwaitEnd()));
  EXPECT_TRUE(absl::IsUnavailable(manager_->stream().AwaitEnd()));
  cluster_.AwaitLeader("dc1", *standby);
  manager_.emplace(cluster_.Channel("manager/dc1/n1", standby->address()));
  manager_->Hello(job_, "dc1", token_);
  EXPECT_THAT(manager_->AwaitWelcome().leases(), IsEmpty()) << "no agent has been heard yet";
  manager_->Want(2);
  agent_.emplace(cluster_.Channel("agent/dc1/n1", standby->address()), "dc1", "n1");
  agent_->Register(held_);
  const std::vector<std::string> granted = {manager_->NextGrant().lease().id(),
                                            manager_->NextGrant().lease().id()};
  EXPECT_THAT(granted, UnorderedElementsAre(workers[0], workers[1]));
  agent_->Beat();
  agent_->Beat();
  EXPECT_THAT(agent_->Ends(), IsEmpty());
  EXPECT_THAT(agent_->Starts(), IsEmpty());
  EXPECT_GT(agent_->stream().messages().front().term(), 1);

  // The new master grants what is wanted beyond.
  manager_->Want(3);
  const v1::Lease third = agent_->NextStart().lease();
  EXPECT_THAT(workers, ::testing::Not(::testing::Contains(third.id())));
}

TEST_F(TakeoverTest, AMasterThatIsStoppedHandsOverAndEndsWithoutAnError) {
  const auto first = cluster_.StartLeader("dc1", "m1");
  const auto standby = cluster_.Start("dc1", "m2");
  StartJob(*first);
  EXPECT_EQ(first->Stop(), 0) << first->Log();
  cluster_.AwaitLeader("dc1", *standby);
  EXPECT_TRUE(TestClient(cluster_.Channel("client/alice", standby->address())).Get(job_).ok());
}

TEST_F(TakeoverTest, AnAgentThatConnectsTwiceHasOneSession) {
  const auto master = cluster_.StartLeader("dc1");
  StartJob(*master);
  TestAgent again(cluster_.Channel("agent/dc1/n1", master->address()), "dc1", "n1");
  again.Register(held_);
  EXPECT_TRUE(absl::IsAborted(agent_->stream().AwaitEnd()));
  again.Beat();
  EXPECT_THAT(again.Ends(), IsEmpty());
}

TEST_F(TakeoverTest, AManagerGivesALeaseBackAndOnlyItsOwn) {
  const auto master = cluster_.StartLeader("dc1");
  StartJob(*master);
  manager_->Want(1);
  Hold(agent_->NextStart().lease());
  const v1::LeaseGranted granted = manager_->NextGrant();
  EXPECT_EQ(granted.agent_address(), "127.0.0.1:1");
  v1::JobManagerMessage message;
  message.mutable_release()->set_lease_id(held_[0].lease().id());  // the manager's own container
  manager_->stream().Send(message);
  manager_->Want(0);
  message.mutable_release()->set_lease_id(granted.lease().id());
  manager_->stream().Send(message);
  agent_->stream().Await([](const v1::MasterCommand& c) { return c.has_end(); });
  agent_->Beat();
  EXPECT_THAT(agent_->Ends(), ElementsAre(granted.lease().id()));
}

TEST_F(TakeoverTest, ADesireThatMakesNoSenseEndsTheSessionAndHarmsNobody) {
  const auto master = cluster_.StartLeader("dc1");
  StartJob(*master);
  const int64_t senseless[][2] = {{-100, 1 << 20}, {100, -1}, {0, 1 << 20}, {INT64_MAX, INT64_MAX}};
  for (const auto& [cpu, memory] : senseless) {
    manager_.emplace(cluster_.Channel("manager/dc1/n1", master->address()));
    manager_->Hello(job_, "dc1", token_);
    manager_->AwaitWelcome();
    manager_->Want(1, cpu, memory);
    EXPECT_TRUE(absl::IsInvalidArgument(manager_->stream().AwaitEnd()));
  }
  agent_->Beat();
  EXPECT_EQ(agent_->Starts().size(), 1u) << "the manager's own";
}

TEST_F(TakeoverTest, AnAgentReportsLeasesOfItsOwnNodeAlone) {
  const auto master = cluster_.StartLeader("dc1");
  StartJob(*master);
  TestAgent other(cluster_.Channel("agent/dc1/n2", master->address()), "dc1", "n2");
  other.Register(held_);
  EXPECT_TRUE(absl::IsInvalidArgument(other.stream().AwaitEnd()));
}

TEST_F(TakeoverTest, InputsAreListedOnTheNodesThatHoldThem) {
  const auto master = cluster_.StartLeader("dc1");
  StartJob(*master);
  v1::ListInputsRequest request;
  request.set_job(job_);
  request.set_token(token_);
  v1::Input* input = request.add_inputs();
  input->set_datacenter("dc1");
  input->set_node("n1");
  input->set_path("/data/*");
  const auto stub =
      v1::JobMasterService::NewStub(cluster_.Channel("manager/dc2/n9", master->address()));
  absl::StatusOr<v1::ListInputsResponse> listed = absl::UnknownError("");
  std::thread call(
      [&] { listed = Call(stub.get(), &v1::JobMasterService::Stub::ListInputs, request); });
  const v1::MasterCommand command =
      agent_->stream().Await([](const v1::MasterCommand& c) { return c.has_list_files(); });
  EXPECT_EQ(command.list_files().inputs(0).path(), "/data/*");
  v1::AgentMessage answer;
  answer.mutable_files()->set_request_id(command.list_files().request_id());
  v1::InputFiles* files = answer.mutable_files()->add_inputs();
  files->add_files()->set_path("/data/b");
  files->add_files()->set_path("/data/a");
  agent_->stream().Send(answer);
  call.join();
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->inputs_size(), 1);
  ASSERT_EQ(listed->inputs(0).files_size(), 2);
  EXPECT_EQ(listed->inputs(0).files(0).path(), "/data/a");
  EXPECT_EQ(listed->inputs(0).files(0).node(), "n1");
  EXPECT_EQ(listed->inputs(0).files(0).agent_address(), "127.0.0.1:1");
}

}  // namespace
}  // namespace houtu::master
