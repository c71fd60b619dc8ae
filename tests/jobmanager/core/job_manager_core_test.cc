#include "jobmanager/core/job_manager_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Names of the partitions that a task reads, "stage/task:name".
std::vector<std::string> Reads(const v1::TaskSpec& spec) {
  std::vector<std::string> names;
  for (const v1::PartitionSource& source : spec.upstream()) {
    for (const v1::PartitionRef& ref : source.partitions()) {
      names.push_back(source.stage() + "/" + std::to_string(ref.task()) + ":" + ref.name());
    }
  }
  return names;
}

const v1::TaskSpec& Started(const JobWorld& world, const std::string& name) {
  for (const v1::TaskSpec& spec : world.started) {
    if (NameOf(spec.id()) == name) {
      return spec;
    }
  }
  ADD_FAILURE() << name << " was not started";
  return world.started.front();
}

/// Two files, "0" and "1".
std::vector<v1::TaskReport> TwoFiles(const v1::TaskSpec& spec) {
  v1::TaskReport report = JobWorld::Succeeded(spec);
  *report.add_partitions() = report.partitions(0);
  report.mutable_partitions(1)->set_name("1");
  return {JobWorld::Running(spec), report};
}

// ---- Stages and exchanges ----

TEST(JobManagerCoreTest, RunsAStageAndEndsTheJobInOneMultiWithItsLastRecords) {
  JobWorld world(JobOf({StageOf("a", 3)}));
  world.Begin();
  world.Run();
  EXPECT_TRUE(world.finished);
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), UnorderedElementsAre("a/0#1", "a/1#1", "a/2#1"));
  EXPECT_TRUE(world.batches.back().ends_job);
  int ends = 0;
  for (const WriteRecords& batch : world.batches) {
    ends += batch.ends_job ? 1 : 0;
  }
  EXPECT_EQ(ends, 1);
}

TEST(JobManagerCoreTest, ShuffleGivesTaskIThePartitionsNamedI) {
  JobWorld world(JobOf({StageOf("a", 3), Needing(StageOf("b", 2), "a", v1::EXCHANGE_SHUFFLE)}));
  world.run = TwoFiles;
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(Started(world, "b/1#1")), UnorderedElementsAre("a/0:1", "a/1:1", "a/2:1"));
}

TEST(JobManagerCoreTest, OneToOneGivesATaskAllOfItsCounterpart) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("b", 2), "a", v1::EXCHANGE_ONE_TO_ONE)}));
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(Started(world, "b/1#1")), UnorderedElementsAre("a/1:"));
}

TEST(JobManagerCoreTest, GatherAndBroadcastGiveAllOfAll) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("g", 1), "a", v1::EXCHANGE_GATHER),
                        Needing(StageOf("b", 2), "a", v1::EXCHANGE_BROADCAST)}));
  world.Begin();
  world.Run();
  EXPECT_THAT(Reads(Started(world, "g/0#1")), UnorderedElementsAre("a/0:", "a/1:"));
  EXPECT_THAT(Reads(Started(world, "b/1#1")), UnorderedElementsAre("a/0:", "a/1:"));
}

TEST(JobManagerCoreTest, AStageWithNothingToDoIsDoneAndTheNextRuns) {
  JobWorld world(JobOf({StageOf("a", 0), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.Begin();
  world.Run();
  EXPECT_EQ(world.Stage(0).state(), v1::STAGE_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), UnorderedElementsAre("b/0#1"));
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
}

// ---- Records ----

TEST(JobManagerCoreTest, NothingOfAStageIsVisibleBeforeItIsRecorded) {
  JobWorld world(JobOf({StageOf("a", 2), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  std::vector<v1::TaskSpec> ran;
  world.run = [&](const v1::TaskSpec& spec) {
    ran.push_back(spec);
    return std::vector{JobWorld::Running(spec)};
  };
  world.Begin();
  ASSERT_THAT(ran, SizeIs(2));
  world.hold_records = true;
  for (const v1::TaskSpec& spec : std::vector(ran)) {
    world.Report(world.NodeOf(spec), JobWorld::Succeeded(spec));
  }
  world.Run(absl::Seconds(5));
  EXPECT_THAT(world.acknowledged, IsEmpty());
  EXPECT_THAT(world.started, SizeIs(2)) << "b waits for the record, not for the report";
  world.hold_records = false;
  world.Do(RecordsWritten{world.held_batches.back()});
  EXPECT_THAT(world.StartedNames(), Contains("b/0#1"));
}

TEST(JobManagerCoreTest, FinishedTasksAreRecordedInGroups) {
  JobWorld world(JobOf({StageOf("a", 500)}));
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_LT(world.batches.size(), 500U / 2);
}

TEST(JobManagerCoreTest, TenThousandTasksOfLongNamesKeepEveryRecordSmall) {
  JobWorld world(JobOf({StageOf(std::string(60, 's'), 10'000)}));
  world.containers_per_node = 40;
  world.run = [](const v1::TaskSpec& spec) {
    v1::TaskReport report = JobWorld::Succeeded(spec);
    report.mutable_partitions(0)->set_name(std::string(40, 'p'));
    return std::vector{JobWorld::Running(spec), report};
  };
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(10'000));
  for (const auto& [key, data] : world.records) {
    ASSERT_LE(data.size(), 512U * 1024);
  }
}

// ---- What fails ----

TEST(JobManagerCoreTest, AFailedTaskIsTriedAgainAfterGrowingPausesAndThenFailsTheJob) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/3)}));
  std::vector<absl::Time> starts;
  world.run = [&](const v1::TaskSpec& spec) {
    starts.push_back(world.now);
    v1::TaskReport report = JobWorld::Ended(spec, v1::TASK_END_REASON_FAILED);
    report.set_exit_status(3);
    report.set_message("exit status 3");
    return std::vector{JobWorld::Running(spec), report};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("exit status 3"));
  ASSERT_THAT(starts, SizeIs(3));
  EXPECT_GE(starts[1] - starts[0], absl::Seconds(1));
  EXPECT_GE(starts[2] - starts[1], absl::Seconds(2));
}

TEST(JobManagerCoreTest, WhatTheNodeFailsAtCountsAsNoAttempt) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
  int tries = 0;
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    switch (++tries) {
      case 1:
        return {JobWorld::Ended(spec, v1::TASK_END_REASON_START_FAILED)};
      case 2:
        return {JobWorld::Running(spec), JobWorld::Ended(spec, v1::TASK_END_REASON_LOST)};
      case 3:
        return {JobWorld::Running(spec), JobWorld::Ended(spec, v1::TASK_END_REASON_STOPPED)};
      default:
        return {JobWorld::Running(spec), JobWorld::Succeeded(spec)};
    }
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(tries, 4);
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

TEST(JobManagerCoreTest, ACancelledJobStartsNothingMoreAndEndsCancelled) {
  JobWorld world(JobOf({StageOf("a", 100)}));
  world.run = [](const v1::TaskSpec& spec) { return std::vector{JobWorld::Running(spec)}; };
  world.Begin();
  const size_t before = world.started.size();
  world.Do(CancelRequested{"analytics"});
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    world.Report(world.NodeOf(spec), JobWorld::Ended(spec, v1::TASK_END_REASON_STOPPED));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_THAT(world.started, SizeIs(before));
}

// ---- What is lost ----

TEST(JobManagerCoreTest, ALostNodesRunningTasksRunElsewhere) {
  JobWorld world(JobOf({StageOf("a", 8, /*attempts=*/1)}));
  world.run = [&](const v1::TaskSpec& spec) {
    std::vector<v1::TaskReport> reports = {JobWorld::Running(spec)};
    if (world.NodeOf(spec) == "n2") {
      reports.push_back(JobWorld::Succeeded(spec));
    }
    return reports;
  };
  world.Begin();
  world.LoseNode("n1");
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(12)) << "the four of n1 twice, the others once";
}

// The primary takes a lost result out of its table before its own part hears of it: that task was
// once never opened again, and the job waited for ever.
TEST(JobManagerCoreTest, AResultThatLayOnALostNodeIsMadeAnewWhereItIsStillNeeded) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  bool lost = false;
  world.containers_per_node = 2;
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    if (spec.id().stage() != "b" || lost) {
      return {JobWorld::Running(spec), JobWorld::Succeeded(spec)};
    }
    lost = true;
    v1::TaskReport report = JobWorld::Ended(spec, v1::TASK_END_REASON_INPUT_LOST);
    v1::LostPartition* partition = report.add_lost();
    partition->set_stage("a");
    partition->set_task(2);
    partition->set_attempt(1);
    partition->set_node("n1");
    return {report};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), Contains("a/2#2"));
  EXPECT_THAT(world.started, SizeIs(4 + 1 + 1 + 1)) << "no other task of a runs again";
}

// ---- Twice ----

TEST(JobManagerCoreTest, AFinishToldTwiceIsOne) {
  JobWorld world(JobOf({StageOf("a", 2)}));
  world.run = [](const v1::TaskSpec& spec) {
    return std::vector{JobWorld::Running(spec), JobWorld::Succeeded(spec),
                       JobWorld::Succeeded(spec)};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(2));
}

TEST(JobManagerCoreTest, AManagerThatIsStartedAnewRunsNoFinishedTaskAgain) {
  const v1::JobRecord job =
      JobOf({StageOf("a", 4), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)});
  JobWorld first(job);
  first.run = [](const v1::TaskSpec& spec) {
    std::vector<v1::TaskReport> reports = {JobWorld::Running(spec)};
    if (spec.id().stage() == "a") {
      reports.push_back(JobWorld::Succeeded(spec));
    }
    return reports;
  };
  first.Begin();
  first.Run(absl::Seconds(3));
  ASSERT_THAT(first.StartedNames(), Contains("b/0#1"));

  Recovered recovered;
  for (const auto& [key, data] : first.records) {
    if (key.kind == RecordKey::Kind::kState) {
      recovered.state.ParseFromString(data);
    } else if (key.kind == RecordKey::Kind::kStage) {
      recovered.stages.emplace_back().stage = key.stage;
      recovered.stages.back().record.ParseFromString(data);
    } else if (key.kind == RecordKey::Kind::kAssignment) {
      auto& chunk = recovered.assignments.emplace_back();
      chunk.stage = key.stage;
      chunk.datacenter = key.datacenter;
      chunk.chunk = key.chunk;
      chunk.record.ParseFromString(data);
    } else if (key.kind == RecordKey::Kind::kFinished) {
      auto& chunk = recovered.finished.emplace_back();
      chunk.stage = key.stage;
      chunk.datacenter = "dc1";
      chunk.chunk = key.chunk;
      chunk.record.ParseFromString(data);
    }
  }
  JobWorld second(job, /*term=*/2);
  second.Begin(std::move(recovered));
  second.Run();
  EXPECT_EQ(second.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(second.StartedNames(), Each(HasSubstr("b/0#")));
}

}  // namespace
}  // namespace houtu::jobmanager
