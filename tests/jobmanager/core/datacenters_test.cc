// A job over two datacenters: its two managers, and what they tell one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

/// `count` files of 100 bytes that the pattern "<dc>:/in/*" finds on the node.
void AddFiles(JobWorld* world, const std::string& datacenter, int count,
              const std::string& node = "n1") {
  std::vector<v1::InputFile>& files = world->files[datacenter + ":/in/*"];
  for (int i = 0; i < count; ++i) {
    v1::InputFile& file = files.emplace_back();
    file.set_path("/in/" + std::to_string(i));
    file.set_node(node);
    file.set_agent_address(datacenter + "-" + node + ":7201");
    file.set_size_bytes(100);
  }
}

/// Reads raw files in both, then shuffles.
v1::JobRecord WordCount(int reducers) {
  return JobOf({StageOver("map", {"dc1:/in/*", "dc2:/in/*"}),
                Needing(StageOf("reduce", reducers), "map", v1::EXCHANGE_SHUFFLE)},
               {"dc1", "dc2"});
}

int CountIn(const JobWorld& world, const std::string& stage, const std::string& datacenter) {
  return static_cast<int>(std::ranges::count_if(world.started, [&](const v1::TaskSpec& spec) {
    return spec.id().stage() == stage && world.DatacenterOf(spec) == datacenter;
  }));
}

std::vector<std::string> Codes(const v1::JobStatus& status) {
  std::vector<std::string> codes;
  for (const v1::WaitReason& wait : status.waits()) {
    codes.push_back(wait.code() + " " + wait.datacenter());
  }
  return codes;
}

TEST(DatacentersTest, RawInputsAreReadInTheirDatacenterAndOnTheirNode) {
  JobWorld world(WordCount(1));
  world.run = Succeeds;
  AddFiles(&world, "dc1", 2);
  AddFiles(&world, "dc2", 4, "n2");
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  for (const v1::TaskSpec& spec : world.started) {
    if (spec.id().stage() == "map") {
      EXPECT_EQ(world.DatacenterOf(spec), spec.input().datacenter());
    }
  }
  EXPECT_EQ(CountIn(world, "map", "dc1"), 2);
  EXPECT_EQ(CountIn(world, "map", "dc2"), 4);
}

TEST(DatacentersTest, TasksWithoutRawInputsGoByTheBytesOfTheirInput) {
  JobWorld world(WordCount(10));
  AddFiles(&world, "dc1", 3);
  AddFiles(&world, "dc2", 7);
  world.run = [](const v1::TaskSpec& spec) {
    std::vector<std::string> files;
    for (int i = 0; i < 10 && spec.id().stage() == "map"; ++i) {
      files.push_back(std::to_string(i));
    }
    return std::vector{Running(spec), Succeeded(spec, files)};
  };
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(CountIn(world, "reduce", "dc1"), 3);
  EXPECT_EQ(CountIn(world, "reduce", "dc2"), 7);
  EXPECT_THAT(Reads(world.Started("reduce/4#1")), SizeIs(10)) << "of both datacenters";
}

TEST(DatacentersTest, ATaskOfOneToOneGoesWhereItsCounterpartRan) {
  v1::Stage b = Needing(StageOf("b", 0), "a", v1::EXCHANGE_ONE_TO_ONE);
  b.clear_tasks();
  JobWorld world(JobOf({StageOver("a", {"dc1:/in/*", "dc2:/in/*"}), b}, {"dc1", "dc2"}));
  world.run = Succeeds;
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 3);
  world.Begin();
  world.Run();
  ASSERT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(CountIn(world, "b", "dc1"), 1);
  EXPECT_EQ(CountIn(world, "b", "dc2"), 3);
}

TEST(DatacentersTest, RecordsThatAreReadOutOfOrderAreUnderstood) {
  JobWorld world(WordCount(10));
  world.tell_stages_late = true;
  world.run = Succeeds;
  AddFiles(&world, "dc1", 3);
  AddFiles(&world, "dc2", 7);
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(20));
}

TEST(DatacentersTest, AFailureInTheOtherDatacenterEndsTheJobWithItsReason) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 1);
  world.run = [&](const v1::TaskSpec& spec) {
    return world.DatacenterOf(spec) == "dc2" ? std::vector{Running(spec), Failed(spec, 9)}
                                             : Succeeds(spec);
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("exit status 9"));
}

TEST(DatacentersTest, APartitionLostInTheOtherDatacenterIsMadeAnewThere) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 2);
  AddFiles(&world, "dc2", 2);
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().stage() == "map" ? Succeeds(spec) : GoesOn(spec);
  };
  world.Begin();
  world.Run(absl::Milliseconds(500));
  ASSERT_THAT(world.started, SizeIs(5));
  const v1::TaskSpec reduce = world.Started("reduce/0#1");
  world.run = Succeeds;
  v1::TaskReport report = LostInput(reduce, "map", 2, 1, "n1");
  *report.add_lost() = report.lost(0);
  report.mutable_lost(1)->set_task(3);
  world.Report(reduce, report);
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(CountIn(world, "map", "dc2"), 4);
  EXPECT_EQ(CountIn(world, "map", "dc1"), 2);
  EXPECT_EQ(world.Status().stages(0).tasks_finished(), 4);
}

TEST(DatacentersTest, ALostNodeOfTheOtherDatacenterOnlyTouchesThatOne) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 2);
  AddFiles(&world, "dc2", 2);
  world.run = [](const v1::TaskSpec& spec) {
    return spec.id().stage() == "map" && spec.id().task() != 3 ? Succeeds(spec) : GoesOn(spec);
  };
  world.Begin();
  world.Run(absl::Milliseconds(500));
  const v1::TaskSpec third = world.Started("map/3#1");
  const std::string node = world.NodeOf(world.Started("map/2#1"));
  world.run = Succeeds;
  world.LoseNode(node, "dc2");
  if (world.NodeOf(third) != node) {
    world.Report(third, Succeeded(third));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(CountIn(world, "map", "dc1"), 2) << "its node of the same name lives";
  EXPECT_THAT(world.StartedNames(), Contains("map/2#2"));
}

TEST(DatacentersTest, TheOthersManagerThatDiesAndComesAgainIsHeardAgainAndRunsNothingTwice) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 4);
  world.run = GoesOn;
  world.Begin();
  world.Run(absl::Seconds(1));
  ASSERT_EQ(CountIn(world, "map", "dc2"), 4);
  EXPECT_EQ(world.Status().stages(0).tasks_running(), 5);
  world.Kill("dc2");
  world.Run(absl::Seconds(5));
  for (const std::string name : {"map/1#1", "map/2#1"}) {
    const v1::TaskSpec spec = world.Started(name);
    world.Report(spec, Succeeded(spec));
  }
  world.Restart("dc2");
  world.Run(absl::Seconds(1));
  EXPECT_EQ(world.Status().stages(0).tasks_finished(), 2);
  EXPECT_EQ(world.Status().stages(0).tasks_running(), 3);
  EXPECT_THAT(Codes(world.Status()), IsEmpty());
  world.run = Succeeds;
  for (const std::string name : {"map/0#1", "map/3#1", "map/4#1"}) {
    const v1::TaskSpec spec = world.Started(name);
    world.Report(spec, Succeeded(spec));
  }
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(6));
}

TEST(DatacentersTest, ThePrimaryThatDiesAndComesAgainHearsTheOthersAgain) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 4);
  world.run = GoesOn;
  world.Begin();
  world.Run(absl::Seconds(1));
  world.Restart("dc1");
  world.Run(absl::Seconds(20));
  EXPECT_THAT(Codes(world.Status()), IsEmpty());
  EXPECT_EQ(world.Status().stages(0).tasks_running(), 5);
}

TEST(DatacentersTest, TheBytesThatCrossedAreTheSameAfterThePrimaryDiedAndCameAgain) {
  JobWorld world(WordCount(2));
  AddFiles(&world, "dc1", 2);
  AddFiles(&world, "dc2", 2);
  world.run = [&](const v1::TaskSpec& spec) -> std::vector<v1::TaskReport> {
    if (spec.id().stage() == "map") {
      return {Succeeded(spec, {"0", "1"})};
    }
    v1::TaskReport report = Succeeded(spec);
    (*report.mutable_input_bytes_from_datacenter())["dc1"] = 20;
    (*report.mutable_input_bytes_from_datacenter())["dc2"] = 30;
    return spec.id().task() == 0 ? std::vector{report} : GoesOn(spec);
  };
  const auto crossed = [&] {
    std::vector<std::string> rows;
    const v1::JobStatus status = world.Status();
    for (const v1::Transfer& transfer : status.transfers()) {
      rows.push_back(transfer.from_datacenter() + ">" + transfer.to_datacenter() + " " +
                     std::to_string(transfer.bytes()));
    }
    return rows;
  };
  world.Begin();
  world.Run(absl::Seconds(1));
  const std::vector<std::string> before = crossed();
  ASSERT_THAT(before, SizeIs(1));
  world.Restart("dc1");
  world.Run(absl::Seconds(10));
  EXPECT_EQ(crossed(), before);
}

// ---- No false reasons ----

TEST(DatacentersTest, AManagerWithNothingToDoGivesNoReasonToWait) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  world.run = GoesOn;
  world.Begin();
  world.Run(absl::Seconds(20));
  EXPECT_THAT(Codes(world.Status()), IsEmpty());
}

TEST(DatacentersTest, AManagerThatWasNotHeardYetIsNamedOnlyWhileItHasTasksThatWait) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  world.lose_reports = true;
  world.run = GoesOn;
  world.Begin();
  world.Run(absl::Seconds(20));
  EXPECT_THAT(Codes(world.Status()), IsEmpty()) << "nothing of the job waits for it";
}

TEST(DatacentersTest, AManagerThatNeverCameIsNamedWhereTasksWaitForIt) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 1);
  world.run = GoesOn;
  world.Begin();
  world.Kill("dc2");
  world.Restart("dc1");
  world.Run(absl::Seconds(2));
  EXPECT_THAT(Codes(world.Status()), ElementsAre("manager_starting dc2"));
}

TEST(DatacentersTest, AMasterThatCantBeReachedIsNamedWhileTasksWaitAndNotAfterwards) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 1);
  world.run = GoesOn;
  world.SetMaster(false, "dc2");
  world.Begin();
  world.Run(absl::Seconds(2));
  EXPECT_THAT(Codes(world.Status()), ElementsAre("no_leader dc2"));
  world.SetMaster(true, "dc2");
  world.Run(absl::Seconds(2));
  EXPECT_THAT(Codes(world.Status()), IsEmpty());
}

// The report that said so was late: what the records tell since is newer.
TEST(DatacentersTest, ALateReportsReasonIsNotShownOnceItsTasksAreFinished) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 2);
  world.run = [&](const v1::TaskSpec& spec) {
    return world.DatacenterOf(spec) == "dc2" ? Succeeds(spec) : GoesOn(spec);
  };
  world.SetMaster(false, "dc2");
  world.Begin();
  world.Run(absl::Seconds(2));
  ASSERT_THAT(Codes(world.Status()), ElementsAre("no_leader dc2"));
  world.lose_reports = true;
  world.SetMaster(true, "dc2");
  world.Run(absl::Seconds(2));
  ASSERT_EQ(world.Status().stages(0).tasks_finished(), 2);
  EXPECT_THAT(Codes(world.Status()), IsEmpty());
}

// ---- Listings ----

TEST(DatacentersTest, APatternThatMatchesNoFileIsAStageWithNothingToDo) {
  JobWorld world(WordCount(2));
  world.run = Succeeds;
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(world.Stage(0).state(), v1::STAGE_STATE_SUCCEEDED);
  EXPECT_EQ(world.Status().stages(0).tasks_total(), 0);
  EXPECT_THAT(world.StartedNames(), UnorderedElementsAre("reduce/0#1", "reduce/1#1"));
}

TEST(DatacentersTest, AFileThatIsNowhereFailsTheJobAndIsNamed) {
  JobWorld world(JobOf({StageOver("map", {"dc2:/in/words"})}, {"dc1", "dc2"}));
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("/in/words"));
  EXPECT_THAT(world.State().message(), HasSubstr("dc2"));
}

TEST(DatacentersTest, ListingsAreAskedForAgainWhileAMasterCantBeReached) {
  JobWorld world(WordCount(1));
  AddFiles(&world, "dc1", 1);
  AddFiles(&world, "dc2", 1);
  world.run = Succeeds;
  world.listing_error = absl::UnavailableError("no leader");
  world.Begin();
  world.Run(absl::Seconds(30));
  EXPECT_THAT(Codes(world.Status()), UnorderedElementsAre("no_leader dc1", "no_leader dc2"));
  EXPECT_LT(world.listings.size(), 40U) << "pauses grow";
  world.listing_error = absl::OkStatus();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
}

TEST(DatacentersTest, ARefusedListingFailsTheJobWithItsReason) {
  JobWorld world(WordCount(1));
  world.listing_error = absl::PermissionDeniedError("/in is not below an input root");
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("/in is not below an input root"));
}

}  // namespace
}  // namespace houtu::jobmanager
