// The result, written to the path that the job names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobmanager/core/limits.h"
#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

v1::JobRecord WritingJob(int tasks) {
  v1::JobRecord record = JobOf({StageOf("a", tasks)});
  v1::Output& output = *record.mutable_job()->mutable_output();
  output.set_datacenter("dc1");
  output.set_path("/out/words");
  return record;
}

std::vector<std::string> AgentsOf(const JobWorld& world) {
  std::vector<std::string> agents;
  for (const WriteOutput& write : world.outputs) {
    agents.push_back(write.agent_address);
  }
  return agents;
}

v1::WriteOutputResponse Losing(const v1::TaskSpec& spec, const std::string& node) {
  v1::WriteOutputResponse response;
  response.set_why("damaged");
  v1::LostPartition* lost = response.add_lost();
  lost->set_stage(spec.id().stage());
  lost->set_task(spec.id().task());
  lost->set_attempt(spec.id().attempt());
  lost->set_node(node);
  return response;
}

TEST(OutputTest, TheJobSucceedsOnceItsResultIsWritten) {
  JobWorld world(WritingJob(4));
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  ASSERT_THAT(world.outputs, SizeIs(1));
  EXPECT_EQ(world.outputs[0].path, "/out/words");
}

TEST(OutputTest, WhatIsLostOfItIsMadeAnewAndTheResultIsWrittenThen) {
  JobWorld world(WritingJob(2));
  world.writes = [&](const WriteOutput&) {
    return world.outputs.size() > 1
               ? v1::WriteOutputResponse()
               : Losing(world.Started("a/1#1"), world.NodeOf(world.Started("a/1#1")));
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.StartedNames(), ElementsAre("a/0#1", "a/1#1", "a/1#2"));
  EXPECT_THAT(world.outputs, SizeIs(2));
}

// Told of an attempt that was made anew already: nothing is opened again, and it is not a failure.
TEST(OutputTest, ALossThatIsOldNewsIsTriedAgain) {
  JobWorld world(WritingJob(1));
  world.writes = [&](const WriteOutput&) -> v1::WriteOutputResponse {
    if (world.outputs.size() > 1) {
      return {};
    }
    v1::TaskSpec other = world.Started("a/0#1");
    other.mutable_id()->set_attempt(7);
    return Losing(other, "n1");
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(world.started, SizeIs(1));
}

TEST(OutputTest, WhereAnAgentCantBeReachedAnotherWritesIt) {
  JobWorld world(WritingJob(8));
  world.writes = [](const WriteOutput& write) -> absl::StatusOr<v1::WriteOutputResponse> {
    if (write.agent_address == "dc1-n1:7201") {
      return absl::UnavailableError("gone");
    }
    return v1::WriteOutputResponse();
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(AgentsOf(world), ElementsAre("dc1-n1:7201", "dc1-n2:7201"));
}

TEST(OutputTest, TheOnlyAgentIsTriedAgainAndTheReasonIsShownMeanwhile) {
  v1::JobRecord job = WritingJob(8);
  job.mutable_job()->mutable_output()->set_node("n2");
  JobWorld world(job);
  world.writes = [&](const WriteOutput&) -> absl::StatusOr<v1::WriteOutputResponse> {
    if (world.outputs.size() < 6) {
      return absl::UnavailableError("gone");
    }
    return v1::WriteOutputResponse();
  };
  world.Begin();
  world.Run(absl::Seconds(2));
  ASSERT_THAT(world.Status().waits(), SizeIs(1));
  EXPECT_EQ(world.Status().waits(0).code(), "retry_backoff");
  EXPECT_THAT(world.Status().waits(0).message(), HasSubstr("result"));
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(AgentsOf(world), testing::Each("dc1-n2:7201"));
}

TEST(OutputTest, AfterAllTriesTheJobFailsWithTheReason) {
  JobWorld world(WritingJob(2));
  world.writes = [](const WriteOutput&) -> absl::StatusOr<v1::WriteOutputResponse> {
    return absl::UnavailableError("no route");
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.State().message(), HasSubstr("/out/words in dc1: no route"));
  EXPECT_THAT(world.outputs, SizeIs(kOutputTriesMax));
}

TEST(OutputTest, AnAnswerThatWillNotChangeFailsTheJobAtOnce) {
  JobWorld world(WritingJob(1));
  world.writes = [](const WriteOutput&) -> absl::StatusOr<v1::WriteOutputResponse> {
    return absl::PermissionDeniedError("/out is not below an output root");
  };
  world.Begin();
  world.Run();
  EXPECT_EQ(world.State().state(), v1::JOB_STATE_FAILED);
  EXPECT_THAT(world.outputs, SizeIs(1));
}

}  // namespace
}  // namespace houtu::jobmanager
