#include "agent/core/agent_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/core/agent_driver.h"

namespace houtu::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// What an earlier agent left.
Recovered Found(std::vector<RecoveredLease> leases, const Terms& terms = {}) {
  Recovered recovered;
  recovered.terms = terms;
  recovered.leases = std::move(leases);
  return recovered;
}

class AgentCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    d.Do(Found({}));
    d.Register();
    d.Command(AgentDriver::StartOf("l1"));
    d.Hello(1);
    d.Take<SendToMaster>();
    d.Take<SendToManager>();
  }

  AgentDriver d;
};

// ---- Who may command ----

TEST_F(AgentCoreTest, RefusesACommandOfAnOlderMaster) {
  d.Command(AgentDriver::StartOf("l2"), /*term=*/5);
  d.Take<SendToMaster>();
  d.Command(AgentDriver::StartOf("l3"), /*term=*/4);
  const auto sent = d.Take<SendToMaster>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].message.refused().reason(), HasSubstr("stale term 4, the newest is 5"));
  EXPECT_FALSE(d.core().leases().contains("l3"));
}

TEST_F(AgentCoreTest, RecordsANewTermBeforeItObeysIt) {
  d.Take<RecordTerms>();
  d.Command(AgentDriver::StartOf("l2"), /*term=*/7);
  const auto recorded = d.Take<RecordTerms>();
  ASSERT_THAT(recorded, SizeIs(1));
  EXPECT_EQ(recorded[0].terms.master, 7);
}

TEST_F(AgentCoreTest, RemembersTheNewestTermsOverARestart) {
  AgentDriver next;
  Terms terms;
  terms.master = 9;
  next.Do(Found({}, terms));
  next.Register();
  next.Take<SendToMaster>();
  next.Command(AgentDriver::StartOf("l1"), /*term=*/8);
  ASSERT_THAT(next.Take<SendToMaster>(), SizeIs(1));
  EXPECT_THAT(next.core().leases(), IsEmpty());
}

TEST_F(AgentCoreTest, RefusesAJobManagerOfAnOlderTerm) {
  d.Hello(2, /*term=*/3);
  d.Take<CloseSession>();
  d.Hello(3, /*term=*/2);
  const auto closed = d.Take<CloseSession>();
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].session, 3U);
  EXPECT_EQ(closed[0].status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(AgentCoreTest, ANewerManagersSessionEndsTheOlder) {
  d.Hello(2, /*term=*/2);
  const auto closed = d.Take<CloseSession>();
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].session, 1U);
  d.Start(1, AgentDriver::Spec(0, "l1"));
  EXPECT_THAT(d.Take<LaunchTask>(), IsEmpty()) << "the older session commands nothing any more";
}

TEST_F(AgentCoreTest, RefusesAnotherJobsToken) {
  d.Hello(2, 1, "another-sum");
  const auto closed = d.Take<CloseSession>();
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].status.code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(AgentCoreTest, RefusesAnEmptyTokenEvenOfALeaseWithoutOne) {
  d.Hello(2, 1, "");
  ASSERT_THAT(d.Take<CloseSession>(), SizeIs(1));
}

// ---- Commands twice ----

TEST_F(AgentCoreTest, TheSameLeaseTwiceIsOne) {
  d.Take<StartContainer>();
  d.Command(AgentDriver::StartOf("l1"));
  EXPECT_THAT(d.Take<StartContainer>(), IsEmpty());
  EXPECT_THAT(d.TakeLeaseReports(), SizeIs(1)) << "it is told again that it is held";
}

TEST_F(AgentCoreTest, TheSameTaskTwiceIsOne) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.Start(1, spec);
  d.Start(1, spec);
  EXPECT_THAT(d.Take<LaunchTask>(), SizeIs(1));
}

TEST_F(AgentCoreTest, TheEndOfALeaseThatIsUnknownIsToldAsItsEnd) {
  d.Command(AgentDriver::EndOf("never-heard"));
  const auto reports = d.TakeLeaseReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].state(), v1::LeaseReport::STATE_ENDED);
}

// ---- Room ----

TEST_F(AgentCoreTest, TasksNeverHoldMoreThanTheirLease) {
  d.Start(1, AgentDriver::Spec(0, "l1"));
  d.Start(1, AgentDriver::Spec(1, "l1"));
  d.Start(1, AgentDriver::Spec(2, "l1"));
  EXPECT_THAT(d.Take<LaunchTask>(), SizeIs(2));
  const auto sent = d.Take<SendToManager>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].message.refused().reason(), HasSubstr("no room"));
  d.Exit(AgentDriver::Spec(0, "l1"));
  d.Start(1, AgentDriver::Spec(2, "l1", 2));
  EXPECT_THAT(d.Take<LaunchTask>(), SizeIs(1));
}

TEST_F(AgentCoreTest, RefusesATaskOfALeaseThatIsNotTheJobs) {
  d.Start(1, AgentDriver::Spec(0, "l9"));
  EXPECT_THAT(d.Take<LaunchTask>(), IsEmpty());
  EXPECT_THAT(d.Take<SendToManager>(), SizeIs(1));
}

// ---- A container of another image ----

TEST_F(AgentCoreTest, AContainerIsReplacedByOneOfAnotherImageOnlyWhenItIsEmpty) {
  d.Start(1, AgentDriver::Spec(0, "l1"));
  v1::TaskSpec other = AgentDriver::Spec(1, "l1");
  other.set_image("oci:/images/x");
  d.Take<StartContainer>();
  d.Start(1, other);
  EXPECT_THAT(d.Take<DestroyContainer>(), IsEmpty());
  d.Exit(AgentDriver::Spec(0, "l1"));
  EXPECT_THAT(d.Take<DestroyContainer>(), SizeIs(1));
  const auto started = d.Take<StartContainer>();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].shape.image, "oci:/images/x");
  EXPECT_EQ(started[0].generation, 2);
  EXPECT_THAT(d.Take<LaunchTask>(), SizeIs(2));
}

// ---- Ends ----

TEST_F(AgentCoreTest, AnExitThatOvertakesTheLaunchsAnswerIsNotLost) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.hold_launches = true;
  d.Start(1, spec);
  d.Exit(spec);
  EXPECT_THAT(d.Take<FinishTask>(), IsEmpty());
  d.Do(TaskLaunched{.lease_id = "l1", .key = KeyOf(spec.id()), .result = {}});
  EXPECT_THAT(d.Take<FinishTask>(), SizeIs(1));
  const auto reports = d.TakeTaskReports();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().end_reason(), v1::TASK_END_REASON_SUCCEEDED);
}

TEST_F(AgentCoreTest, AnExitToldTwiceIsTakenOnce) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.Start(1, spec);
  d.Exit(spec);
  d.Exit(spec);
  EXPECT_THAT(d.Take<FinishTask>(), SizeIs(1));
}

TEST_F(AgentCoreTest, AnEndIsToldToEachNewSessionUntilItIsAcknowledged) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.Start(1, spec);
  d.Exit(spec, 3);
  d.Hello(2, 2);
  auto sent = d.Take<SendToManager>();
  ASSERT_THAT(sent, SizeIs(1));
  ASSERT_EQ(sent[0].message.welcome().tasks_size(), 1);
  EXPECT_EQ(sent[0].message.welcome().tasks(0).exit_status(), 3);
  d.Acknowledge(2, spec.id());
  EXPECT_THAT(d.Take<ForgetAttempts>(), SizeIs(1));
  d.Hello(3, 3);
  sent = d.Take<SendToManager>();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].message.welcome().tasks_size(), 0);
}

TEST_F(AgentCoreTest, ARunningTaskCantBeAcknowledgedAway) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.Start(1, spec);
  d.Acknowledge(1, spec.id());
  EXPECT_THAT(d.Take<ForgetAttempts>(), IsEmpty());
}

TEST_F(AgentCoreTest, TheEndOfALeaseStopsItsTasksAndIsToldWhenItIsRecorded) {
  d.Start(1, AgentDriver::Spec(0, "l1"));
  d.Command(AgentDriver::EndOf("l1"));
  const auto stops = d.Take<StopProgram>();
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].grace, absl::Seconds(1)) << "the shorter of the lease's and the task's";
  EXPECT_THAT(d.Take<DestroyContainer>(), SizeIs(1));
  EXPECT_THAT(d.Take<RecordLeaseEnd>(), SizeIs(1));
  const auto reports = d.TakeLeaseReports();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().state(), v1::LeaseReport::STATE_ENDED);
}

TEST_F(AgentCoreTest, ALeaseIsForgottenWhenMasterAndManagerHaveHeardItsEnd) {
  const v1::TaskSpec spec = AgentDriver::Spec(0, "l1");
  d.Start(1, spec);
  d.Command(AgentDriver::EndOf("l1"));
  v1::MasterCommand acknowledged;
  acknowledged.mutable_acknowledged()->set_lease_id("l1");
  d.Command(acknowledged);
  EXPECT_THAT(d.Take<ForgetLease>(), IsEmpty());
  d.Acknowledge(1, spec.id());
  EXPECT_THAT(d.Take<ForgetLease>(), SizeIs(1));
  EXPECT_THAT(d.core().leases(), IsEmpty());
}

TEST_F(AgentCoreTest, AContainerThatEndsByItselfLosesItsTasks) {
  d.Start(1, AgentDriver::Spec(0, "l1"));
  d.Do(ContainerEnded{.lease_id = "l1", .generation = 1});
  const auto reports = d.TakeTaskReports();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().end_reason(), v1::TASK_END_REASON_LOST);
  EXPECT_EQ(d.TakeLeaseReports().back().end_reason(), v1::LEASE_END_REASON_CONTAINER_FAILED);
}

// ---- After a restart ----

RecoveredAttempt RunningAttempt(const v1::TaskSpec& spec) {
  RecoveredAttempt attempt;
  attempt.spec = spec;
  attempt.running = true;
  return attempt;
}

RecoveredAttempt EndedAttempt(const v1::TaskSpec& spec) {
  RecoveredAttempt attempt;
  attempt.spec = spec;
  attempt.exit.emplace().id = KeyOf(spec.id());
  return attempt;
}

RecoveredLease FoundLease(std::vector<RecoveredAttempt> attempts) {
  RecoveredLease lease;
  lease.start = AgentDriver::StartOf("l1").start();
  lease.container = ContainerShape{.image = "host"};
  lease.container_runs = true;
  lease.attempts = std::move(attempts);
  return lease;
}

TEST(AgentCoreRestartTest, FindsRunningTasksAndWhatEndedMeanwhile) {
  const v1::TaskSpec runs = AgentDriver::Spec(0, "l1");
  const v1::TaskSpec ended = AgentDriver::Spec(1, "l1");
  AgentDriver d;
  d.Do(Found({FoundLease({RunningAttempt(runs), EndedAttempt(ended)})}));
  EXPECT_THAT(d.Take<FinishTask>(), SizeIs(1));
  EXPECT_THAT(d.Take<LaunchTask>(), IsEmpty()) << "what runs is not started again";
  EXPECT_THAT(d.Take<StartContainer>(), IsEmpty());
  d.Register();
  d.Hello(1);
  const auto sent = d.Take<SendToManager>();
  ASSERT_THAT(sent, SizeIs(1));
  ASSERT_EQ(sent[0].message.welcome().tasks_size(), 2);
  EXPECT_EQ(sent[0].message.welcome().tasks(0).state(), v1::TaskReport::STATE_RUNNING);
  EXPECT_EQ(sent[0].message.welcome().tasks(1).end_reason(), v1::TASK_END_REASON_SUCCEEDED);
}

TEST(AgentCoreRestartTest, TellsTheMasterItsLeasesWhenItRegisters) {
  AgentDriver d;
  Terms terms;
  terms.master = 2;
  d.Do(Found({FoundLease({})}, terms));
  d.Do(MasterConnected{});
  const auto sent = d.Take<SendToMaster>();
  ASSERT_THAT(sent, SizeIs(1));
  ASSERT_EQ(sent[0].message.register_().leases_size(), 1);
  EXPECT_EQ(sent[0].message.register_().leases(0).state(), v1::LeaseReport::STATE_READY);
  EXPECT_EQ(sent[0].message.register_().term_seen(), 2);
}

TEST(AgentCoreRestartTest, LaunchesWhatWasTakenButNeverStarted) {
  AgentDriver d;
  RecoveredAttempt taken;
  taken.spec = AgentDriver::Spec(0, "l1");
  d.Do(Found({FoundLease({taken})}));
  EXPECT_THAT(d.Take<LaunchTask>(), SizeIs(1));
}

TEST(AgentCoreRestartTest, ALeaseWhoseContainerIsGoneEnds) {
  RecoveredLease lease = FoundLease({RunningAttempt(AgentDriver::Spec(0, "l1"))});
  lease.attempts[0].running = false;
  lease.container_runs = false;
  AgentDriver d;
  d.Do(Found({lease}));
  EXPECT_THAT(d.Take<DestroyContainer>(), SizeIs(1)) << "cgroups and mounts are still there";
  EXPECT_THAT(d.Take<RecordLeaseEnd>(), SizeIs(1));
}

// ---- A node that fails what it starts (C22) ----

TEST_F(AgentCoreTest, ANodeThatCantStartContainersTakesNoWorkUntilAProbeSucceeds) {
  d.container_status = absl::InternalError("read-only file system");
  d.probe_status = absl::InternalError("read-only file system");
  d.Command(AgentDriver::StartOf("l2"));
  EXPECT_FALSE(d.core().health().in_service());
  EXPECT_THAT(d.core().health().message(), HasSubstr("read-only file system"));
  auto reports = d.TakeLeaseReports();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().end_reason(), v1::LEASE_END_REASON_CONTAINER_FAILED);
  EXPECT_TRUE(reports.back().node_fault());
  d.Take<StartContainer>();
  d.Command(AgentDriver::StartOf("l3"));
  EXPECT_THAT(d.Take<StartContainer>(), IsEmpty()) << "no start is tried";
  d.Pass(absl::Minutes(2));
  const size_t probes = d.Take<ProbeNode>().size();
  EXPECT_GE(probes, 4U);
  EXPECT_LE(probes, 10U) << "with growing pauses";
  d.probe_status = absl::OkStatus();
  d.Pass(absl::Seconds(60));
  EXPECT_TRUE(d.core().health().in_service()) << "within a minute of the repair";
}

TEST_F(AgentCoreTest, AnImageThatCantBeHadIsNoFaultOfTheNode) {
  d.container_status = absl::NotFoundError("no such image");
  d.node_fault = false;
  d.Command(AgentDriver::StartOf("l2"));
  EXPECT_TRUE(d.core().health().in_service());
  EXPECT_FALSE(d.TakeLeaseReports().back().node_fault());
}

TEST_F(AgentCoreTest, AFullDiskTakesTheNodeOutOfService) {
  d.disk_free = 10;
  d.Pass(absl::Seconds(3));
  EXPECT_FALSE(d.core().health().in_service());
  EXPECT_THAT(d.core().health().message(), HasSubstr("less than the reserve"));
}

TEST_F(AgentCoreTest, AStartThatFailsForTheNodesReasonsIsNotTheTasksFault) {
  d.launch_result = {.kind = LaunchResult::Kind::kNodeFault, .message = "No space left on device"};
  d.Start(1, AgentDriver::Spec(0, "l1"));
  const auto reports = d.TakeTaskReports();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().end_reason(), v1::TASK_END_REASON_START_FAILED);
  EXPECT_FALSE(d.core().health().in_service());
}

// ---- A master that is silent ----

TEST_F(AgentCoreTest, AMasterThatAnswersNoHeartbeatIsGivenUp) {
  for (int i = 0; i < 10; ++i) {
    d.now += absl::Seconds(1);
    d.Do(Woken{.disk_free_bytes = d.disk_free});
  }
  EXPECT_THAT(d.Take<ReconnectMaster>(), SizeIs(1));
}

TEST_F(AgentCoreTest, TasksGoOnWhileTheMasterIsAway) {
  d.Start(1, AgentDriver::Spec(0, "l1"));
  d.Do(MasterDisconnected{});
  d.Exit(AgentDriver::Spec(0, "l1"));
  EXPECT_EQ(d.TakeTaskReports().back().end_reason(), v1::TASK_END_REASON_SUCCEEDED);
  EXPECT_THAT(d.Take<DestroyContainer>(), IsEmpty());
}

}  // namespace
}  // namespace houtu::agent
