// What is lost: machines, connections, partitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(LossTest, ALostNodesRunningTasksRunElsewhereAndNoAttemptIsCounted) {
  JobWorld world(JobOf({StageOf("a", 8, /*attempts=*/1)}));
  world.run = [&](const v1::TaskSpec& spec) {
    return world.NodeOf(spec) == "n2" ? Succeeds(spec) : GoesOn(spec);
  };
  world.Begin();
  world.LoseNode("n1");
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(12)) << "the four of n1 twice, the others once";
  EXPECT_EQ(world.Status().stages(0).attempts_failed(), 0);
  EXPECT_EQ(world.Status().stages(0).attempts_lost(), 4);
}

TEST(LossTest, ATaskMayBeLostMoreOftenThanItMayFail) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
  world.run = GoesOn;
  world.Begin();
  for (int i = 0; i < 5; ++i) {
    const v1::TaskSpec spec = world.started.back();
    world.Report(spec, Ended(spec, v1::TASK_END_REASON_LOST));
    world.Run(absl::Seconds(1));
  }
  world.run = Succeeds;
  const v1::TaskSpec spec = world.started.back();
  world.Report(spec, Succeeded(spec));
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
}

// The primary takes a lost result out of its table before its own part hears of it: that task was
// once never opened again, and the job waited for ever.
TEST(LossTest, ALostPartitionIsMadeAnewAndNoOther) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  bool lost = false;
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    if (spec.id().stage() != "b" || std::exchange(lost, true)) {
      return Succeeds(spec);
    }
    return {LostInput(spec, "a", 2, 1, "n1")};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(),
              UnorderedElementsAre("a/0#1", "a/1#1", "a/2#1", "a/3#1", "a/2#2", "b/0#1", "b/0#2"));
  EXPECT_EQ(world.Status().stages(1).attempts_failed(), 0);
}

TEST(LossTest, ALostNodeRecomputesOnlyWhatIsStillNeeded) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 4), "a", v1::EXCHANGE_ONE_TO_ONE),
                        Needing(StageOf("c", 1), "b", v1::EXCHANGE_GATHER)}));
  world.containers_per_node = 2;
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().stage() == "c" ? GoesOn(spec) : Succeeds(spec);
  };
  world.Begin();
  world.Run(absl::Milliseconds(10));
  const v1::TaskSpec c = world.Started("c/0#1");
  std::set<int> on_lost;
  const std::string lost = world.NodeOf(c) == "n1" ? "n2" : "n1";
  for (int task = 0; task < 4; ++task) {
    const v1::TaskSpec& b = world.Started("b/" + std::to_string(task) + "#1");
    if (world.NodeOf(b) == lost) {
      on_lost.insert(task);
    }
  }
  ASSERT_THAT(on_lost, SizeIs(2));
  const size_t before = world.started.size();
  world.LoseNode(lost);
  world.Report(c, LostInput(c, "b", *on_lost.begin(), 1, lost));
  world.run = Succeeds;
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  // b's lost tasks, what they read of a where that lay on the lost node too, and c again.
  std::set<std::string> expected = {"c/0#2"};
  for (const int task : on_lost) {
    expected.insert("b/" + std::to_string(task) + "#2");
    if (world.NodeOf(world.Started("a/" + std::to_string(task) + "#1")) == lost) {
      expected.insert("a/" + std::to_string(task) + "#2");
    }
  }
  std::vector<std::string> again = world.StartedNames();
  again.erase(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(again, testing::UnorderedElementsAreArray(expected));
}

TEST(LossTest, ANodeWhosePartitionsWereAllReadCostsNothing) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER),
                        Needing(StageOf("c", 1), "b", v1::EXCHANGE_GATHER)}));
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().stage() == "c" ? GoesOn(spec) : Succeeds(spec);
  };
  world.Begin();
  const v1::TaskSpec c = world.Started("c/0#1");
  const std::string b_node = world.NodeOf(world.Started("b/0#1"));
  const std::string other = b_node == "n1" ? "n2" : "n1";
  ASSERT_EQ(world.NodeOf(c), b_node);
  world.LoseNode(other);
  world.Report(c, Succeeded(c));
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(6));
}

// Two lost at once: the tasks that wait for a container must go back, or one would be started
// without what it reads.
TEST(LossTest, TasksThatWaitGoBackWhenSeveralOfTheirInputsAreLostAtOnce) {
  JobWorld world(JobOf({StageOf("a", 4), Needing(StageOf("b", 9), "a", v1::EXCHANGE_SHUFFLE)}));
  world.containers_per_node = 2;
  const auto a_succeeds = [](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    return {Succeeded(spec, {"0", "1", "2", "3", "4", "5", "6", "7", "8"})};
  };
  world.run = [&](const v1::TaskSpec& spec) {
    return spec.id().stage() == "b" ? GoesOn(spec) : a_succeeds(spec);
  };
  world.Begin();
  ASSERT_THAT(world.started, SizeIs(8)) << "four of b run, five wait";
  world.LoseNode("n1");
  world.run = [&](const v1::TaskSpec& spec) {
    return spec.id().stage() == "b" ? Succeeds(spec) : a_succeeds(spec);
  };
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    if (spec.id().stage() == "b" && world.NodeOf(spec) == "n2") {
      world.Report(spec, Succeeded(spec));
    }
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  for (const v1::TaskSpec& spec : world.started) {
    if (spec.id().stage() == "b") {
      EXPECT_THAT(Reads(spec), SizeIs(4)) << NameOf(spec.id());
    }
  }
}

TEST(LossTest, ABrokenConnectionToAnAgentLosesNothing) {
  JobWorld world(JobOf({StageOf("a", 4)}));
  world.run = GoesOn;
  world.Begin();
  const std::vector<v1::TaskSpec> ran = world.started;
  world.Cut("n1");
  for (const v1::TaskSpec& spec : ran) {
    world.Report(spec, Succeeded(spec));
  }
  world.Run(absl::Seconds(60));
  EXPECT_FALSE(world.finished);
  EXPECT_THAT(world.started, SizeIs(4)) << "what runs on n1 is not started again";
  world.Heal("n1");
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(4));
}

TEST(LossTest, AStartThatNeverReachedItsAgentIsSentAgain) {
  JobWorld world(JobOf({StageOf("a", 1, /*attempts=*/1)}));
  world.run = GoesOn;
  world.Begin();
  const v1::TaskSpec spec = world.Started("a/0#1");
  world.Cut("n1");
  v1::TaskWelcome welcome;
  welcome.set_node("n1");
  world.run = Succeeds;
  world.Do(AgentConnected{"n1", welcome});
  world.Heal("n1");
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), ElementsAre("a/0#1", "a/0#3")) << "a/0#2 went into the cut";
}

TEST(LossTest, AMastersRestartStopsNothing) {
  JobWorld world(JobOf({StageOf("a", 8), Needing(StageOf("b", 1), "a", v1::EXCHANGE_GATHER)}));
  world.run = GoesOn;
  world.Begin();
  world.SetMaster(false);
  world.Run(absl::Seconds(10));
  world.SetMaster(true);
  world.run = Succeeds;
  for (const v1::TaskSpec& spec : std::vector(world.started)) {
    world.Report(spec, Succeeded(spec));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(9));
  EXPECT_THAT(world.stopped, IsEmpty());
}

TEST(LossTest, ARawInputThatCantBeReadAgainAndAgainFailsTheJobWithTheReason) {
  JobWorld world(JobOf({StageOver("a", {"dc1:/in/x"})}));
  v1::InputFile& file = world.files["dc1:/in/x"].emplace_back();
  file.set_path("/in/x");
  file.set_node("n1");
  file.set_size_bytes(5);
  world.run = [](const v1::TaskSpec& spec) {
    v1::TaskReport report = Ended(spec, v1::TASK_END_REASON_INPUT_LOST);
    report.set_message("/in/x: no such file");
    return std::vector{report};
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), testing::HasSubstr("/in/x: no such file"));
}

}  // namespace
}  // namespace houtu::jobmanager
