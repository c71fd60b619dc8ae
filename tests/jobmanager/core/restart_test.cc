// A manager that dies and is started anew from its records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobmanager/core/limits.h"
#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::vector<v1::TaskReport> OnlyASucceeds(const v1::TaskSpec& spec) {
  return spec.id().stage() == "a" ? Succeeds(spec) : GoesOn(spec);
}

v1::JobRecord TwoStages(int tasks) {
  return JobOf({StageOf("a", tasks), Needing(StageOf("b", 2), "a", v1::EXCHANGE_BROADCAST)});
}

TEST(RestartTest, NoFinishedTaskRunsAgainAndWhatRunsIsAdopted) {
  JobWorld world(TwoStages(4));
  world.run = OnlyASucceeds;
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(6));
  world.Restart();
  world.Run(absl::Seconds(10));
  EXPECT_THAT(world.started, SizeIs(6));
  EXPECT_THAT(world.stopped, IsEmpty());
  for (const std::string name : {"b/0#1", "b/1#1"}) {
    const v1::TaskSpec spec = world.Started(name);
    world.Report(spec, Succeeded(spec));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(6));
}

TEST(RestartTest, WhatEndedWhileNoManagerWasThereIsTaken) {
  JobWorld world(TwoStages(4));
  world.run = OnlyASucceeds;
  world.Begin();
  world.Kill();
  for (const std::string name : {"b/0#1", "b/1#1"}) {
    const v1::TaskSpec spec = world.Started(name);
    world.Report(spec, Succeeded(spec));
  }
  world.Restart();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(6));
  EXPECT_THAT(world.discarded, IsEmpty());
}

TEST(RestartTest, AResultThatWasNotRecordedIsToldAgainByItsAgent) {
  JobWorld world(TwoStages(4));
  world.run = GoesOn;
  world.Begin();
  world.hold_records = true;
  const v1::TaskSpec spec = world.Started("a/0#1");
  world.Report(spec, Succeeded(spec));
  world.hold_records = false;
  world.Restart();
  EXPECT_THAT(world.acknowledged, ElementsAre("a/0#1"));
  EXPECT_THAT(world.started, SizeIs(4));
}

TEST(RestartTest, NothingStartsBeforeItIsKnownWhatAnEarlierManagerLeftRunning) {
  JobWorld world(TwoStages(8));
  world.run = GoesOn;
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(8));
  world.Cut("n1");
  world.Restart();
  world.Run(absl::Seconds(20));
  EXPECT_THAT(world.started, SizeIs(8));
  world.Heal("n1");
  EXPECT_THAT(world.started, SizeIs(8)) << "all were adopted";
  world.Run(absl::Seconds(10));
  EXPECT_THAT(world.started, SizeIs(8));
}

TEST(RestartTest, WhatWasLostMeanwhileRunsAgainWithANumberNobodyEverGave) {
  JobWorld world(TwoStages(8));
  world.run = GoesOn;
  world.Begin();
  world.Kill();
  world.LoseNode("n1");
  world.run = Succeeds;
  world.Restart();
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    if (spec.id().attempt() == 1 && world.NodeOf(spec) == "n2") {
      world.Report(spec, Succeeded(spec));
    }
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  int again = 0;
  for (const v1::TaskSpec& spec : world.started) {
    if (spec.id().stage() == "a" && spec.id().attempt() != 1) {
      EXPECT_EQ(spec.id().attempt(), kAttemptsPerTerm + 1);
      ++again;
    }
  }
  EXPECT_EQ(again, 4);
}

TEST(RestartTest, FailuresBeforeItCount) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/2)}));
  world.run = [](const v1::TaskSpec& spec) { return std::vector{Running(spec), Failed(spec, 7)}; };
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(1));
  world.Restart();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("exit status 7"));
  EXPECT_THAT(world.started, SizeIs(2));
}

TEST(RestartTest, ARequestToCancelIsCarriedOutByTheNextManager) {
  JobWorld world(TwoStages(4));
  world.run = GoesOn;
  world.Begin();
  world.stops = false;
  world.Do(CancelRequested{"analytics"});
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_CANCELLING);
  world.stops = true;
  world.Restart();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_THAT(world.started, SizeIs(4));
}

TEST(RestartTest, AManagerOfAJobThatEndedFinishesAtOnce) {
  JobWorld world(TwoStages(2));
  world.Begin();
  world.Run();
  const size_t batches = world.batches.size();
  world.finished = false;
  world.Restart();
  EXPECT_THAT(world.batches, SizeIs(batches));
}

// The records of a large stage's release take several multis: a manager that died between two of
// them left tasks that nobody had.
TEST(RestartTest, AStageWhoseReleaseWasHalfRecordedIsReleasedInFull) {
  JobWorld world(JobOf({StageOf("a", 20'000)}));
  world.containers_per_node = 100;
  world.hold_records = true;
  world.Begin();
  world.ReleaseRecords();
  world.hold_records = true;
  for (int i = 0; i < 1000 && world.Stage(0).tasks() == 0; ++i) {
    world.ReleaseRecords();
    world.hold_records = true;
  }
  size_t assigned = 0;
  for (const auto& [stored, data] : world.records) {
    assigned += stored.second.kind == RecordKey::Kind::kAssignment ? 1 : 0;
  }
  world.hold_records = false;
  world.Restart();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED) << assigned << " chunks were recorded";
}

TEST(RestartTest, TenThousandTasksOfWhichHalfAreDoneGoOn) {
  JobWorld world(JobOf({StageOf(std::string(60, 's'), 10'000)}));
  world.containers_per_node = 40;
  int left = 5'000;
  world.run = [&](const v1::TaskSpec& spec) {
    return left-- > 0 ? std::vector{Running(spec), Succeeded(spec, {std::string(40, 'p')})}
                      : GoesOn(spec);
  };
  world.Begin();
  world.Run(absl::Seconds(2));
  const size_t before = world.started.size();
  ASSERT_EQ(before, 5'080U);
  world.Restart();
  world.Run(absl::Seconds(2));
  EXPECT_THAT(world.started, SizeIs(before));
  world.run = [](const v1::TaskSpec& spec) {
    return std::vector{Running(spec), Succeeded(spec, {std::string(40, 'p')})};
  };
  for (size_t i = 5'000; i < before; ++i) {
    const v1::TaskSpec spec = world.started[i];
    world.Report(spec, Succeeded(spec));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(10'000));
}

}  // namespace
}  // namespace houtu::jobmanager
