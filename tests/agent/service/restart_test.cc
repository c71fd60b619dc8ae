// The agent's death and return: containers and tasks go on without it, and it finds them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "common/base/status.h"
#include "tests/agent/service/test_agent.h"

namespace houtu::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kJob[] = "j0000000000000000001";
const std::string kToken(32, 't');

class RestartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "an agent gives folders to containers' users: root alone can";
    }
    agent_ = std::make_unique<TestAgent>(&pki_, &machine_);
    agent_->Lease("l1", kJob, kToken);
    TestManager manager(&pki_, *agent_);
    manager.Hello(kJob, kToken);
    manager.Welcome();
    manager.Start({spec_});
    manager.Await(spec_, v1::TaskReport::STATE_RUNNING);
  }
  void Die() { agent_.reset(); }
  void Return() { agent_ = std::make_unique<TestAgent>(&pki_, &machine_); }
  /// The task ends while no agent runs.
  void EndMeanwhile(int exit_status) {
    houtu::testing::FakeRuntime(machine_.node)
        .EndTask(machine_.paths.lease("l1"), KeyOf(spec_.id()), exit_status, 0);
  }
  std::unique_ptr<TestManager> NextManager() {
    auto manager = std::make_unique<TestManager>(&pki_, *agent_);
    manager->Hello(kJob, kToken, ++term_);
    return manager;
  }

  TestPki pki_;
  TestMachine machine_;
  std::unique_ptr<TestAgent> agent_;
  const v1::TaskSpec spec_ = SpecOf(kJob, "l1", 0);
  int64_t term_ = 1;
};

TEST_F(RestartTest, ATaskThatRunsOnIsFoundAndEndsAsEver) {
  Die();
  Return();
  const auto manager = NextManager();
  const auto tasks = manager->Welcome();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].state(), v1::TaskReport::STATE_RUNNING);
  EXPECT_EQ(agent_->runtime().started(), 0) << "its container is not started again";
  agent_->Write(spec_, "0", "x");
  agent_->EndTask(spec_);
  const v1::TaskReport report = manager->Await(spec_, v1::TaskReport::STATE_ENDED);
  EXPECT_EQ(report.end_reason(), v1::TASK_END_REASON_SUCCEEDED) << report.message();
  EXPECT_THAT(report.partitions(), SizeIs(1));
}

TEST_F(RestartTest, ATaskThatEndedMeanwhileIsCommitted) {
  agent_->Write(spec_, "0", "result");
  Die();
  EndMeanwhile(0);
  Return();
  const auto manager = NextManager();
  auto tasks = manager->Welcome();
  ASSERT_THAT(tasks, SizeIs(1));
  if (tasks[0].end_reason() == v1::TASK_END_REASON_UNSPECIFIED) {
    tasks[0] = manager->Await(spec_, v1::TaskReport::STATE_ENDED);
  }
  EXPECT_EQ(tasks[0].end_reason(), v1::TASK_END_REASON_SUCCEEDED) << tasks[0].message();
  EXPECT_THAT(tasks[0].partitions(), SizeIs(1));
}

TEST_F(RestartTest, ATaskThatFailedMeanwhileIsToldWithItsStatus) {
  Die();
  EndMeanwhile(7);
  Return();
  const auto manager = NextManager();
  auto tasks = manager->Welcome();
  ASSERT_THAT(tasks, SizeIs(1));
  if (tasks[0].end_reason() == v1::TASK_END_REASON_UNSPECIFIED) {
    tasks[0] = manager->Await(spec_, v1::TaskReport::STATE_ENDED);
  }
  EXPECT_EQ(tasks[0].end_reason(), v1::TASK_END_REASON_FAILED);
  EXPECT_EQ(tasks[0].exit_status(), 7);
}

TEST_F(RestartTest, AnEndThatWasToldButNotAcknowledgedIsToldAgain) {
  auto manager = NextManager();
  manager->Welcome();
  agent_->EndTask(spec_);
  manager->Await(spec_, v1::TaskReport::STATE_ENDED);
  manager.reset();
  for (int i = 0; i < 2; ++i) {
    Die();
    Return();
    const auto tasks = NextManager()->Welcome();
    ASSERT_THAT(tasks, SizeIs(1));
    EXPECT_EQ(tasks[0].end_reason(), v1::TASK_END_REASON_SUCCEEDED);
  }
}

TEST_F(RestartTest, OlderTermsAreRefusedAlsoAfterARestart) {
  term_ = 6;
  NextManager()->Welcome();
  v1::MasterCommand command;
  command.mutable_heartbeat();
  agent_->Command(command, /*term=*/5);
  NextManager()->Welcome();  // posted behind the command: it was obeyed
  Die();
  Return();
  TestManager older(&pki_, *agent_);
  older.Hello(kJob, kToken, /*term=*/6);
  EXPECT_TRUE(absl::IsFailedPrecondition(older.End()));
  agent_->Command(command, /*term=*/4);
  EXPECT_THAT(agent_->master().AwaitRefusal(), HasSubstr("stale term 4, the newest is 5"));
}

TEST_F(RestartTest, ALeaseWhoseContainerWentMeanwhileEndsAndItsTasksAreLost) {
  Die();
  houtu::testing::FakeRuntime(machine_.node).EndContainer(machine_.paths.lease("l1"));
  Return();
  EXPECT_EQ(agent_->master().Await("l1", v1::LeaseReport::STATE_ENDED).end_reason(),
            v1::LEASE_END_REASON_CONTAINER_FAILED);
  const auto tasks = NextManager()->Welcome();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].end_reason(), v1::TASK_END_REASON_LOST);
}

TEST_F(RestartTest, ALeaseWhoseTasksCantBeAskedForEndsAndTheAgentLives) {
  Die();
  machine_.knobs.list_running = absl::UnavailableError("the executor's socket is gone");
  Return();
  EXPECT_EQ(agent_->master().Await("l1", v1::LeaseReport::STATE_ENDED).end_reason(),
            v1::LEASE_END_REASON_CONTAINER_FAILED);
  const auto manager = NextManager();
  const auto tasks = manager->Welcome();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].end_reason(), v1::TASK_END_REASON_LOST);
}

TEST_F(RestartTest, ALeasesFolderWithoutARecordIsRemoved) {
  Die();
  const auto stray = machine_.paths.lease("stray");
  houtu::testing::WriteText(stray / "io" / "x", "x");
  Return();
  EXPECT_FALSE(std::filesystem::exists(stray));
}

TEST_F(RestartTest, AForgottenLeaseLeavesNothing) {
  auto manager = NextManager();
  manager->Welcome();
  agent_->EndTask(spec_);
  manager->Await(spec_, v1::TaskReport::STATE_ENDED);
  manager->Acknowledge({spec_});
  v1::MasterCommand end;
  end.mutable_end()->set_lease_id("l1");
  end.mutable_end()->set_reason(v1::LEASE_END_REASON_RELEASED);
  agent_->Command(end);
  agent_->master().Await("l1", v1::LeaseReport::STATE_ENDED);
  v1::MasterCommand acknowledged;
  acknowledged.mutable_acknowledged()->set_lease_id("l1");
  agent_->Command(acknowledged);
  manager.reset();
  EXPECT_TRUE(absl::IsPermissionDenied(NextManager()->End())) << "its token opens nothing any more";
  // The lease's work is done in order: once it is recorded anew, the old one is deleted.
  agent_->Lease("l1", kJob, kToken);
  EXPECT_THAT(NextManager()->Welcome(), IsEmpty());
  Die();
  EXPECT_THAT(LeaseRecords(machine_.paths).Scan()->leases[0].attempts, IsEmpty());
}

}  // namespace
}  // namespace houtu::agent
