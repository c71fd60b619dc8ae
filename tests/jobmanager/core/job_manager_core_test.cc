#include "jobmanager/core/job_manager_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "jobmanager/core/limits.h"
#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// A task that writes the files "0" and "1".
std::vector<v1::TaskReport> TwoFiles(const v1::TaskSpec& spec) {
  return {Running(spec), Succeeded(spec, {"0", "1"})};
}

// ---- Stages and exchanges ----

TEST(JobManagerCoreTest, RunsAStageAndEndsTheJobInOneMultiWithItsLastRecords) {
  JobWorld world(JobOf({StageOf("a", 3)}));
  world.Begin();
  world.Run();
  EXPECT_TRUE(world.finished);
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(world.Status().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), UnorderedElementsAre("a/0#1", "a/1#1", "a/2#1"));
  const auto ends = [](const WriteRecords& batch) { return batch.ends_job; };
  EXPECT_TRUE(ends(world.batches.back()));
  EXPECT_EQ(std::ranges::count_if(world.batches, ends), 1);
}

TEST(JobManagerCoreTest, ShuffleGivesTaskIThePartitionsNamedI) {
  JobWorld world(JobOf({StageOf("a", 3), Needing(StageOf("b", 2), "a", v1::EXCHANGE_SHUFFLE)}));
  world.run = TwoFiles;
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(world.Started("b/0#1")), UnorderedElementsAre("a/0:0", "a/1:0", "a/2:0"));
  EXPECT_THAT(Reads(world.Started("b/1#1")), UnorderedElementsAre("a/0:1", "a/1:1", "a/2:1"));
}

TEST(JobManagerCoreTest, AShuffledPartitionThatNobodyWroteIsAbsent) {
  JobWorld world(JobOf({StageOf("a", 3), Needing(StageOf("b", 2), "a", v1::EXCHANGE_SHUFFLE)}));
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().task() == 1 ? std::vector{Running(spec), Succeeded(spec, {"0"})}
                                 : TwoFiles(spec);
  };
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(world.Started("b/1#1")), UnorderedElementsAre("a/0:1", "a/2:1"));
}

TEST(JobManagerCoreTest, AFileThatNoTaskOfAShuffleReadsFailsItsTask) {
  JobWorld world(JobOf({StageOf("a", 1, 1), Needing(StageOf("b", 2), "a", v1::EXCHANGE_SHUFFLE)}));
  world.run = [](const v1::TaskSpec& spec) {
    return std::vector{Running(spec), Succeeded(spec, {"2"})};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("output file \"2\""));
}

TEST(JobManagerCoreTest, OneToOneGivesATaskAllOfItsCounterpart) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("b", 2), "a", v1::EXCHANGE_ONE_TO_ONE)}));
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(world.Started("b/0#1")), ElementsAre("a/0:"));
  EXPECT_THAT(Reads(world.Started("b/1#1")), ElementsAre("a/1:"));
}

TEST(JobManagerCoreTest, GatherAndBroadcastGiveAllOfAll) {
  JobWorld world(JobOf(
      {StageOf("a", 2), Needing(StageOf("g", 1), "a", v1::EXCHANGE_GATHER),
       Needing(StageOf("b", 2), "a", v1::EXCHANGE_BROADCAST),
       Needing(Needing(StageOf("c", 1), "g", v1::EXCHANGE_GATHER), "b", v1::EXCHANGE_GATHER)}));
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(world.Started("g/0#1")), UnorderedElementsAre("a/0:", "a/1:"));
  EXPECT_THAT(Reads(world.Started("b/0#1")), UnorderedElementsAre("a/0:", "a/1:"));
  EXPECT_THAT(Reads(world.Started("b/1#1")), UnorderedElementsAre("a/0:", "a/1:"));
  EXPECT_THAT(Reads(world.Started("c/0#1")), UnorderedElementsAre("g/0:", "b/0:", "b/1:"));
}

TEST(JobManagerCoreTest, ASourceNamesTheNodeAndTheAgentThatHoldIt) {
  JobWorld world(JobOf({StageOf("a", 1), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.Begin();
  world.Run();
  const v1::TaskSpec& spec = world.Started("b/0#1");
  ASSERT_THAT(spec.upstream(), SizeIs(1));
  EXPECT_EQ(spec.upstream(0).node(), world.NodeOf(world.Started("a/0#1")));
  EXPECT_EQ(spec.upstream(0).agent_address(), "dc1-" + spec.upstream(0).node() + ":7201");
  EXPECT_EQ(spec.upstream(0).datacenter(), "dc1");
  EXPECT_EQ(spec.upstream(0).partitions(0).attempt(), 1);
  EXPECT_EQ(spec.upstream(0).partitions(0).size_bytes(), 10);
}

TEST(JobManagerCoreTest, AStageWithNothingToDoIsDoneAndTheNextRuns) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("b", 0), "a", v1::EXCHANGE_BROADCAST),
                        Needing(StageOf("c", 1), "b", v1::EXCHANGE_GATHER)}));
  world.Begin();
  world.Run();
  EXPECT_EQ(world.Stage(1).state(), v1::STAGE_STATE_SUCCEEDED);
  EXPECT_EQ(world.Status().stages(1).tasks_total(), 0);
  EXPECT_EQ(world.Status().stages(1).tasks_finished(), 0);
  EXPECT_THAT(Reads(world.Started("c/0#1")), IsEmpty());
  EXPECT_THAT(world.started, SizeIs(3));
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
}

TEST(JobManagerCoreTest, TheResultIsWrittenWhereTheJobSays) {
  v1::JobRecord job = JobOf({StageOf("a", 2)});
  job.mutable_job()->mutable_output()->set_datacenter("dc1");
  job.mutable_job()->mutable_output()->set_path("/out/x");
  JobWorld world(job);
  world.Begin();
  world.Run();
  ASSERT_THAT(world.outputs, SizeIs(1));
  EXPECT_EQ(world.outputs[0].path, "/out/x");
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
}

// ---- Records ----

TEST(JobManagerCoreTest, NothingOfAStageIsVisibleBeforeItIsRecorded) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.run = GoesOn;
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(2));
  world.hold_records = true;
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    world.Report(spec, Succeeded(spec));
  }
  world.Run(absl::Seconds(5));
  EXPECT_THAT(world.acknowledged, IsEmpty());
  EXPECT_THAT(world.started, SizeIs(2)) << "b waits for the record, not for the report";
  world.ReleaseRecords();
  EXPECT_THAT(world.acknowledged, UnorderedElementsAre("a/0#1", "a/1#1"));
  EXPECT_THAT(world.StartedNames(), Contains("b/0#1"));
}

TEST(JobManagerCoreTest, NoTaskStartsBeforeItsAssignmentIsRecorded) {
  JobWorld world(JobOf({StageOf("a", 2)}));
  world.hold_records = true;
  world.Begin();
  world.Run(absl::Seconds(5));
  EXPECT_THAT(world.started, IsEmpty());
  world.ReleaseRecords();
  EXPECT_THAT(world.started, SizeIs(2));
}

TEST(JobManagerCoreTest, FinishedTasksAreRecordedInGroups) {
  JobWorld world(JobOf({StageOf("a", 500)}));
  world.containers_per_node = 200;
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_LT(world.batches.size(), 50U);
}

TEST(JobManagerCoreTest, AllThatEndsDuringAWriteGoesIntoTheNextOne) {
  JobWorld world(JobOf({StageOf("a", 64)}));
  world.containers_per_node = 32;
  world.run = GoesOn;
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(64));
  world.hold_records = true;
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    world.Report(spec, Succeeded(spec));
  }
  const size_t before = world.batches.size();
  world.ReleaseRecords();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_LE(world.batches.size(), before + 2) << "the other 63, and the end";
}

TEST(JobManagerCoreTest, TenThousandTasksOfLongNamesKeepEveryRecordSmall) {
  const std::string stage(60, 's');
  JobWorld world(
      JobOf({StageOf(stage, 10'000), Needing(StageOf("j", 1), stage, v1::EXCHANGE_GATHER)}));
  world.containers_per_node = 40;
  world.run = [](const v1::TaskSpec& spec) {
    return std::vector{Running(spec), Succeeded(spec, {std::string(40, 'p')})};
  };
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(10'001));
  EXPECT_THAT(Reads(world.Started("j/0#1")), SizeIs(10'000));
  for (const WriteRecords& batch : world.batches) {
    size_t bytes = 0;
    for (const WriteRecords::Write& write : batch.writes) {
      ASSERT_LE(write.data.size(), 512U * 1024);
      bytes += write.data.size();
    }
    ASSERT_LE(bytes, 512U * 1024);
  }
}

// ---- What fails ----

TEST(JobManagerCoreTest, AFailedTaskIsTriedAgainAfterGrowingPausesAndThenFailsTheJob) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/3)}));
  std::vector<absl::Time> starts;
  world.run = [&](const v1::TaskSpec& spec) {
    starts.push_back(world.now);
    return std::vector{Running(spec), Failed(spec, 3)};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("exit status 3"));
  EXPECT_THAT(world.State().message(), HasSubstr("3 of 3 attempts"));
  EXPECT_EQ(world.Stage(0).state(), v1::STAGE_STATE_FAILED);
  ASSERT_THAT(starts, SizeIs(3));
  EXPECT_EQ(starts[1] - starts[0], absl::Seconds(1));
  EXPECT_EQ(starts[2] - starts[1], absl::Seconds(2));
}

TEST(JobManagerCoreTest, WhatFailsByAnotherWayThanItsExitStatusSaysSo) {
  for (const auto& [reason, words] : std::map<v1::TaskEndReason, std::string>{
           {v1::TASK_END_REASON_OUT_OF_MEMORY, "out of memory"},
           {v1::TASK_END_REASON_TIMED_OUT, "time limit"},
           {v1::TASK_END_REASON_NOT_EXECUTABLE, "can't be executed"},
           {v1::TASK_END_REASON_BAD_OUTPUT, "bad output"}}) {
    JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
    world.run = [&](const v1::TaskSpec& spec) {
      return std::vector{Running(spec), Ended(spec, reason)};
    };
    world.Begin();
    world.Run();
    EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
    EXPECT_THAT(world.State().message(), HasSubstr(words));
  }
}

TEST(JobManagerCoreTest, WhatTheNodeFailsAtCountsAsNoAttempt) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
  int tries = 0;
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    switch (++tries) {
      case 1:
        return {Ended(spec, v1::TASK_END_REASON_START_FAILED)};
      case 2:
        return {Running(spec), Ended(spec, v1::TASK_END_REASON_LOST)};
      case 3:
        return {Running(spec), Ended(spec, v1::TASK_END_REASON_STOPPED)};
      default:
        return {Running(spec), Succeeded(spec)};
    }
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(world.Status().stages(0).attempts_failed(), 0);
  EXPECT_EQ(world.Status().stages(0).attempts_lost(), 2);
  EXPECT_EQ(world.Status().stages(0).starts_failed(), 1);
}

TEST(JobManagerCoreTest, ARefusedStartCountsAsNoAttemptAndIsTriedAgain) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
  int refused = 0;
  world.refuses = [&](const v1::TaskSpec&) { return ++refused <= 20; };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(world.Status().stages(0).attempts_failed(), 0);
  EXPECT_THAT(world.started, SizeIs(21));
}

TEST(JobManagerCoreTest, ANodeThatCantStartTasksIsLeftAloneAndTheOtherRunsThem) {
  JobWorld world(JobOf({StageOf("a", 40, /*attempts=*/1)}));
  int bad = 0;
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    if (world.NodeOf(spec) == "n1") {
      ++bad;
      return {Ended(spec, v1::TASK_END_REASON_START_FAILED)};
    }
    return {Running(spec), Succeeded(spec)};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_LE(bad, kUnprovenStartsMax);
}

TEST(JobManagerCoreTest, AnImageThatCantBeHadFailsTheJobWithTheReason) {
  JobWorld world(JobOf({StageOf("a", 5)}));
  world.image_error = "no image /images/x";
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("no image /images/x"));
  EXPECT_LT(world.grants, 20);
}

TEST(JobManagerCoreTest, ACancelledJobStopsItsTasksStartsNoMoreAndEndsCancelled) {
  JobWorld world(JobOf({StageOf("a", 100)}));
  world.run = GoesOn;
  world.Begin();
  const std::vector<std::string> before = world.StartedNames();
  ASSERT_THAT(before, SizeIs(8));
  world.stops = false;
  world.Do(CancelRequested{"analytics"});
  EXPECT_THAT(world.stopped, testing::UnorderedElementsAreArray(before));
  world.Run(absl::Seconds(2));
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_CANCELLING) << "until its tasks ended";
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    world.Report(spec, Ended(spec, v1::TASK_END_REASON_STOPPED));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_THAT(world.State().message(), HasSubstr("analytics"));
  EXPECT_EQ(world.Stage(0).state(), v1::STAGE_STATE_CANCELLED);
  EXPECT_EQ(world.StartedNames(), before);
  EXPECT_EQ(world.Status().stages(0).attempts_failed(), 0);
}

TEST(JobManagerCoreTest, ACancelledJobWhoseTasksDontEndDoesNotWaitForEver) {
  JobWorld world(JobOf({StageOf("a", 1)}));
  world.run = GoesOn;
  world.stops = false;
  world.Begin();
  world.Do(CancelRequested{"analytics"});
  world.Run(absl::Seconds(5) + kStopSlack);
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_CANCELLED);
}

// ---- Twice ----

TEST(JobManagerCoreTest, AFinishToldTwiceIsOne) {
  JobWorld world(JobOf({StageOf("a", 2)}));
  world.run = [](const v1::TaskSpec& spec) {
    return std::vector{Running(spec), Succeeded(spec), Succeeded(spec)};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(2));
  EXPECT_THAT(world.discarded, IsEmpty());
}

TEST(JobManagerCoreTest, AFinishToldAfterItWasRecordedIsAcknowledgedAgainAndKept) {
  JobWorld world(JobOf({StageOf("a", 1), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().stage() == "a" ? std::vector{Running(spec), Succeeded(spec)} : GoesOn(spec);
  };
  world.Begin();
  const v1::TaskSpec a = world.Started("a/0#1");
  world.Report(a, Succeeded(a));
  EXPECT_THAT(world.acknowledged, ElementsAre("a/0#1", "a/0#1"));
  EXPECT_THAT(world.discarded, IsEmpty());
}

TEST(JobManagerCoreTest, OfTwoAttemptsThatFinishTheFirstRecordedWinsAndTheOthersOutputsGo) {
  JobWorld world(JobOf({StageOf("a", 1), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.run = GoesOn;
  world.Begin();
  const v1::TaskSpec first = world.Started("a/0#1");
  world.Revoke(first.lease_id(), v1::LEASE_END_REASON_CONTAINER_FAILED, /*node_fault=*/true);
  world.Run(absl::Seconds(3));
  const v1::TaskSpec second = world.Started("a/0#2");
  world.Report(second, Succeeded(second));
  world.Report(first, Succeeded(first, {"0", "late"}));
  EXPECT_THAT(world.discarded, AllOf(Not(IsEmpty()), Each("a/0#1"))) << "its loss, its late end";
  const v1::TaskSpec& b = world.Started("b/0#1");
  EXPECT_EQ(b.upstream(0).partitions(0).attempt(), 2);
  EXPECT_EQ(b.upstream(0).partitions(0).size_bytes(), 10);
}

// ---- Containers ----

TEST(JobManagerCoreTest, AChainOfStagesRunsInTheContainersOfItsFirst) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 4), "a", v1::EXCHANGE_ONE_TO_ONE),
                        Needing(StageOf("c", 4), "b", v1::EXCHANGE_SHUFFLE)}));
  world.run = GoesOn;
  world.Begin();
  for (const std::string stage : {"a", "b", "c"}) {
    for (int task = 0; task < 4; ++task) {
      world.Run(absl::Milliseconds(150));
      const v1::TaskSpec spec = world.Started(stage + "/" + std::to_string(task) + "#1");
      world.Report(spec, Succeeded(spec));
    }
  }
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(world.grants, 4);
}

TEST(JobManagerCoreTest, IdleContainersAreGivenBackWhileOthersWork) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 4), "a", v1::EXCHANGE_GATHER)}));
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().task() == 0 ? GoesOn(spec) : TwoFiles(spec);
  };
  world.Begin();
  EXPECT_EQ(world.Leases(), 4);
  world.Run(absl::Seconds(5));
  EXPECT_EQ(world.Leases(), 1);
}

}  // namespace
}  // namespace houtu::jobmanager
