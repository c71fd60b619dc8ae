#include "master/core/master_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "master/allocator/fair.h"

namespace houtu::master {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kMi = int64_t{1} << 20;
constexpr absl::Time kStart = absl::UnixEpoch();

/// Drives a core and keeps what it sent, by session.
class Driver {
 public:
  explicit Driver(int64_t term = 1, std::vector<ActiveJob> jobs = {})
      : core(MasterCore::Options{.datacenter = "dc1", .manager_resources = {100, 64 * kMi}},
             std::make_unique<FairAllocator>()) {
    Do(LeadershipGained{.term = term, .jobs = std::move(jobs)});
  }

  void Do(const Event& event) {
    Take(core.Step(now, event));
    Take(core.Decide(now));
  }
  void Wait(absl::Duration time) {
    now += time;
    Take(core.Decide(now));
  }

  void Register(SessionId session, const std::string& node,
                std::vector<v1::LeaseReport> leases = {}, int64_t memory_mi = 1024) {
    v1::RegisterNode message;
    message.mutable_node()->set_name(node);
    message.mutable_node()->set_agent_address(node + ":7201");
    message.mutable_node()->set_state(v1::Node::STATE_READY);
    *message.mutable_node()->mutable_capacity() = Resources(4000, memory_mi * kMi).ToProto();
    for (const v1::LeaseReport& lease : leases) {
      *message.add_leases() = lease;
    }
    Do(AgentRegistered{.session = session, .node = message});
  }

  void Report(SessionId session, const v1::Lease& lease, v1::LeaseReport::State state,
              v1::LeaseEndReason reason = v1::LEASE_END_REASON_UNSPECIFIED) {
    v1::LeaseReport report;
    *report.mutable_lease() = lease;
    report.set_state(state);
    report.set_end_reason(reason);
    Do(LeaseReported{.session = session, .node = lease.node(), .report = report});
  }

  void Desire(SessionId session, const std::string& job, int containers, int64_t cpu = 1000) {
    v1::Desire desire;
    v1::Demand* demand = desire.add_demands();
    demand->set_containers(containers);
    *demand->mutable_resources() = Resources(cpu, 64 * kMi).ToProto();
    Do(DesireChanged{.session = session, .job = job, .desire = desire});
  }

  /// Leases commanded to start since the last call.
  std::vector<v1::Lease> TakeStarts() {
    std::vector<v1::Lease> out;
    std::erase_if(to_agents, [&](const SendToAgent& s) {
      if (!s.command.has_start()) return false;
      out.push_back(s.command.start().lease());
      return true;
    });
    return out;
  }
  std::vector<std::string> TakeEnds() {
    std::vector<std::string> out;
    std::erase_if(to_agents, [&](const SendToAgent& s) {
      if (!s.command.has_end()) return false;
      out.push_back(s.command.end().lease_id());
      return true;
    });
    return out;
  }
  std::vector<v1::JobMasterMessage> TakeToManager() {
    std::vector<v1::JobMasterMessage> out;
    for (SendToManager& s : to_managers) out.push_back(std::move(s.message));
    to_managers.clear();
    return out;
  }

  MasterCore core;
  absl::Time now = kStart;
  std::vector<SendToAgent> to_agents;
  std::vector<SendToManager> to_managers;
  std::vector<EndSession> ended;
  std::vector<EndJob> ended_jobs;

 private:
  void Take(Effects effects) {
    for (Effect& effect : effects) {
      if (auto* agent = std::get_if<SendToAgent>(&effect)) to_agents.push_back(std::move(*agent));
      if (auto* manager = std::get_if<SendToManager>(&effect))
        to_managers.push_back(std::move(*manager));
      if (auto* end = std::get_if<EndSession>(&effect)) ended.push_back(std::move(*end));
      if (auto* job = std::get_if<EndJob>(&effect)) ended_jobs.push_back(std::move(*job));
    }
  }
};

ActiveJob JobNamed(const std::string& id) {
  ActiveJob job;
  job.record.set_id(id);
  job.record.set_token("token-" + id);
  job.record.set_primary_datacenter("dc1");
  return job;
}

v1::LeaseReport Held(const v1::Lease& lease) {
  v1::LeaseReport report;
  *report.mutable_lease() = lease;
  report.set_state(v1::LeaseReport::STATE_READY);
  return report;
}

/// A cluster of one node (session 1) on which job a's manager (session 9) is connected.
class MasterCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    d.Register(1, "n1");
    d.Do(JobActive{.job = JobNamed("a")});
    manager = d.TakeStarts().at(0);
    d.Report(1, manager, v1::LeaseReport::STATE_ACCEPTED);
    d.Do(ManagerConnected{.session = 9, .job = "a", .term = 1});
    d.TakeToManager();
  }

  Driver d;
  v1::Lease manager;
};

TEST_F(MasterCoreTest, StartsAJobsManagerWithItsToken) {
  EXPECT_EQ(manager.kind(), v1::Lease::KIND_MANAGER);
  EXPECT_EQ(manager.id(), "dc1.1.1");
  EXPECT_EQ(manager.node(), "n1");
}

TEST_F(MasterCoreTest, TellsTheManagerOfALeaseOnlyWhenTheAgentHasRecordedIt) {
  d.Desire(9, "a", 2);
  const std::vector<v1::Lease> leases = d.TakeStarts();
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_THAT(d.TakeToManager(), IsEmpty());
  d.Report(1, leases[0], v1::LeaseReport::STATE_ACCEPTED);
  const auto messages = d.TakeToManager();
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].granted().lease().id(), leases[0].id());
  EXPECT_EQ(messages[0].granted().agent_address(), "n1:7201");
}

TEST_F(MasterCoreTest, GrantsNoMoreThanTheNodesHave) {
  d.Desire(9, "a", 100);
  EXPECT_THAT(d.TakeStarts(), SizeIs(3)) << "4 cores less the manager's 100m";
  EXPECT_EQ(d.core.Waits("a").at(0).code(), "no_free_capacity");
}

TEST_F(MasterCoreTest, ASecondMasterAdoptsWhatAgentsHoldAndGrantsNothingTwice) {
  d.Desire(9, "a", 3);
  const std::vector<v1::Lease> leases = d.TakeStarts();
  Driver next(2, {JobNamed("a")});
  next.Register(1, "n1", {Held(manager), Held(leases[0]), Held(leases[1]), Held(leases[2])});
  EXPECT_THAT(next.TakeStarts(), IsEmpty()) << "the manager runs already";
  next.Do(ManagerConnected{.session = 5, .job = "a", .term = 1});
  EXPECT_THAT(next.TakeToManager().at(0).welcome().leases(), SizeIs(3));
  next.Desire(5, "a", 3);
  EXPECT_THAT(next.TakeStarts(), IsEmpty());
  EXPECT_THAT(next.TakeEnds(), IsEmpty());
}

TEST_F(MasterCoreTest, ASecondMasterWaitsForAManagerThatMayRunOnANodeNotHeardYet) {
  ActiveJob job = JobNamed("a");
  job.manager_known = true;
  job.manager_node = "n1";
  Driver next(2, {job});
  next.Register(2, "n2");
  EXPECT_THAT(next.TakeStarts(), IsEmpty());
  next.Register(1, "n1", {Held(manager)});
  EXPECT_THAT(next.TakeStarts(), IsEmpty());
  EXPECT_THAT(next.TakeEnds(), IsEmpty());
}

TEST_F(MasterCoreTest, ASecondMasterStartsAManagerAnewWhenItsNodeDoesNotComeBack) {
  ActiveJob job = JobNamed("a");
  job.manager_known = true;
  job.manager_node = "n1";
  Driver next(2, {job});
  next.Wait(absl::Seconds(1));
  next.Register(2, "n2");
  EXPECT_THAT(next.TakeStarts(), IsEmpty());
  next.Wait(absl::Seconds(4));
  EXPECT_THAT(next.TakeStarts(), SizeIs(1));
}

TEST_F(MasterCoreTest, ANodeNotHeardForTheLimitLosesItsLeasesAndTheManagerMoves) {
  d.Register(2, "n2");
  d.Desire(9, "a", 1);
  v1::Lease worker = d.TakeStarts().at(0);
  EXPECT_EQ(worker.node(), "n2") << "the emptier node";
  d.Report(2, worker, v1::LeaseReport::STATE_ACCEPTED);
  d.TakeToManager();
  d.now += absl::Seconds(3);
  d.Do(AgentHeartbeat{.session = 2, .node = "n2", .heartbeat = [] {
                        v1::Heartbeat h;
                        h.set_state(v1::Node::STATE_READY);
                        return h;
                      }()});
  d.Wait(absl::Seconds(2));
  const std::vector<v1::Lease> started = d.TakeStarts();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(started[0].kind(), v1::Lease::KIND_MANAGER);
  EXPECT_EQ(started[0].node(), "n2");
  EXPECT_EQ(d.core.Nodes().at(0).state(), v1::Node::STATE_LOST);
}

TEST_F(MasterCoreTest, AManagerThatItsOwnJobsLeasesLeaveNoRoomForGetsTheRoomOfOne) {
  d.Register(2, "n2");
  d.Desire(9, "a", 100);
  std::vector<v1::Lease> on_n2;
  for (const v1::Lease& lease : d.TakeStarts()) {
    d.Report(lease.node() == "n1" ? 1 : 2, lease, v1::LeaseReport::STATE_ACCEPTED);
    if (lease.node() == "n2") {
      on_n2.push_back(lease);
    }
  }
  ASSERT_THAT(on_n2, SizeIs(4)) << "n2 is full";
  d.now += absl::Seconds(3);
  d.Do(AgentHeartbeat{.session = 2, .node = "n2", .heartbeat = [] {
                        v1::Heartbeat h;
                        h.set_state(v1::Node::STATE_READY);
                        return h;
                      }()});
  d.Wait(absl::Seconds(2));
  EXPECT_THAT(d.TakeStarts(), IsEmpty());
  const std::vector<std::string> ends = d.TakeEnds();
  ASSERT_THAT(ends, SizeIs(1)) << "one is enough";
  const auto ended = std::find_if(on_n2.begin(), on_n2.end(),
                                  [&](const v1::Lease& lease) { return lease.id() == ends[0]; });
  ASSERT_NE(ended, on_n2.end());
  d.Report(2, *ended, v1::LeaseReport::STATE_ENDED, v1::LEASE_END_REASON_PREEMPTED);
  const std::vector<v1::Lease> started = d.TakeStarts();
  ASSERT_FALSE(started.empty());
  EXPECT_EQ(started[0].kind(), v1::Lease::KIND_MANAGER);
  EXPECT_EQ(started[0].node(), "n2");
}

TEST_F(MasterCoreTest, ALostNodesWorkIsRevokedAndEndedWhenTheNodeComesBack) {
  d.Desire(9, "a", 1);
  const v1::Lease worker = d.TakeStarts().at(0);
  d.Report(1, worker, v1::LeaseReport::STATE_ACCEPTED);
  d.TakeToManager();
  d.Wait(absl::Seconds(5));
  EXPECT_EQ(d.TakeToManager().at(0).revoked().reason(), v1::LEASE_END_REASON_NODE_LOST);
  d.Do(JobEnded{.job = "a"});
  d.Register(3, "n1", {Held(worker), Held(manager)});
  EXPECT_THAT(d.TakeEnds(), ElementsAre(worker.id(), manager.id()));
}

TEST_F(MasterCoreTest, ABlinkOfAnAgentsConnectionEndsNothing) {
  d.Desire(9, "a", 1);
  const v1::Lease worker = d.TakeStarts().at(0);
  d.Report(1, worker, v1::LeaseReport::STATE_ACCEPTED);
  d.TakeToManager();
  d.Do(AgentSessionEnded{.session = 1, .node = "n1"});
  d.Wait(absl::Seconds(2));
  d.Register(4, "n1", {Held(worker), Held(manager)});
  EXPECT_THAT(d.TakeToManager(), IsEmpty());
  EXPECT_THAT(d.TakeStarts(), IsEmpty());
  EXPECT_THAT(d.TakeEnds(), IsEmpty());
}

TEST_F(MasterCoreTest, ACommandThatGotLostIsSentAgainAtTheNextRegistration) {
  d.Desire(9, "a", 1);
  const v1::Lease worker = d.TakeStarts().at(0);
  d.Register(4, "n1", {Held(manager)});
  const std::vector<v1::Lease> again = d.TakeStarts();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].id(), worker.id());
}

TEST_F(MasterCoreTest, DecidesNothingWhileZooKeeperIsAway) {
  d.Do(LeadershipSuspended{});
  d.Desire(9, "a", 1);
  EXPECT_THAT(d.TakeStarts(), IsEmpty());
  d.Do(LeadershipResumed{});
  EXPECT_THAT(d.TakeStarts(), SizeIs(1));
}

TEST_F(MasterCoreTest, TheEndOfAJobEndsItsLeasesAndSession) {
  d.Desire(9, "a", 1);
  const v1::Lease worker = d.TakeStarts().at(0);
  d.Do(JobEnded{.job = "a"});
  EXPECT_THAT(d.TakeEnds(), ElementsAre(manager.id(), worker.id()));
  EXPECT_THAT(d.ended, SizeIs(1));
  d.Report(1, worker, v1::LeaseReport::STATE_ENDED, v1::LEASE_END_REASON_JOB_ENDED);
  d.Report(1, manager, v1::LeaseReport::STATE_ENDED, v1::LEASE_END_REASON_JOB_ENDED);
  EXPECT_EQ(d.core.Nodes().at(0).leases(), 0);
  EXPECT_EQ(d.core.Nodes().at(0).allocated().cpu_millis(), 0);
}

TEST_F(MasterCoreTest, AStaleManagerIsTurnedAwayAndANewerOneTakesOver) {
  d.Do(ManagerConnected{.session = 10, .job = "a", .term = 3});
  ASSERT_THAT(d.ended, SizeIs(1));
  EXPECT_EQ(d.ended[0].session, 9u);
  d.Do(ManagerConnected{.session = 11, .job = "a", .term = 2});
  ASSERT_THAT(d.ended, SizeIs(2));
  EXPECT_EQ(d.ended[1].reason, "stale term 2, the newest is 3");
}

TEST_F(MasterCoreTest, ACrashingManagerIsRestartedWithGrowingPausesAndAtLastFailsTheJob) {
  v1::Lease lease = manager;
  for (int i = 1; i < MasterCore::kManagerFailuresMax; ++i) {
    d.Report(1, lease, v1::LeaseReport::STATE_ENDED, v1::LEASE_END_REASON_CONTAINER_FAILED);
    EXPECT_THAT(d.TakeStarts(), IsEmpty()) << "first a pause";
    for (int beat = 0; beat < 40; ++beat) {
      d.now += absl::Seconds(1);
      d.Do(AgentHeartbeat{.session = 1, .node = "n1", .heartbeat = [] {
                            v1::Heartbeat h;
                            h.set_state(v1::Node::STATE_READY);
                            return h;
                          }()});
    }
    lease = d.TakeStarts().at(0);
    // One that says hello before it crashes is no better.
    d.Do(ManagerConnected{.session = SessionId(20 + i), .job = "a", .term = 1 + i});
  }
  d.Report(1, lease, v1::LeaseReport::STATE_ENDED, v1::LEASE_END_REASON_CONTAINER_FAILED);
  ASSERT_THAT(d.ended_jobs, SizeIs(1));
  EXPECT_EQ(d.ended_jobs[0].state, v1::JOB_STATE_FAILED);
}

TEST(MasterCoreManagersTest, ManagersNeverFillANodeSoThatNoTaskCouldRun) {
  Driver d;
  d.Register(1, "n1", {}, 512);
  for (int i = 0; i < 20; ++i) {
    d.Do(JobActive{.job = JobNamed("j" + std::to_string(i))});
  }
  EXPECT_THAT(d.TakeStarts(), SizeIs(4)) << "half of 512 MiB at 64 MiB each";
}

TEST(MasterCoreManagersTest, AJobWhoseManagerHasNoRoomCanBeCancelled) {
  Driver d;
  d.Do(JobActive{.job = JobNamed("a")});
  d.Do(CancelRequested{.job = "a"});
  ASSERT_THAT(d.ended_jobs, SizeIs(1));
  EXPECT_EQ(d.ended_jobs[0].state, v1::JOB_STATE_CANCELLED);
}

TEST(MasterCoreManagersTest, ANodeOutOfServiceGetsNothingNew) {
  Driver d;
  d.Register(1, "n1");
  v1::Heartbeat sick;
  sick.set_state(v1::Node::STATE_OUT_OF_SERVICE);
  sick.set_message("read-only file system");
  d.Do(AgentHeartbeat{.session = 1, .node = "n1", .heartbeat = sick});
  d.Do(JobActive{.job = JobNamed("a")});
  EXPECT_THAT(d.TakeStarts(), IsEmpty());
  EXPECT_EQ(d.core.Nodes().at(0).message(), "read-only file system");
}

}  // namespace
}  // namespace houtu::master
