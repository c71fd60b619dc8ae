#include "common/jobspec/canonical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/jobspec/check_file.h"

namespace houtu::jobspec {
namespace {

using ::testing::ElementsAre;

v1::Job Canonical(std::string_view text) {
  v1::Job job;
  EXPECT_EQ(CheckFile(text, &job), "");
  Canonicalize(&job);
  return job;
}

TEST(CanonicalTest, WritesOutEveryDefault) {
  const v1::Job job = Canonical(R"(version: houtu/v1
name: x
image: oci:/img
retry: {backoff: 2s}
stages:
  - name: m
    command: [x]
    inputs: [{datacenter: dc2, path: /b}, {datacenter: dc1, path: /a}]
    resources: {cpu: 2}
  - {name: r, command: [x], needs: [{stage: m}], retry: {attempts: 1}, image: host}
)");
  EXPECT_EQ(job.checkpoint().mode(), v1::CheckpointPolicy::MODE_AUTO);
  EXPECT_THAT(job.datacenters(), ElementsAre("dc1", "dc2"));
  const v1::Stage& map = job.stages(0);
  EXPECT_EQ(map.image(), "oci:/img");
  EXPECT_EQ(map.retry().attempts(), 3);
  EXPECT_EQ(map.retry().backoff().seconds(), 2);
  EXPECT_EQ(map.resources().cpu_millis(), 2000);
  EXPECT_EQ(map.resources().memory_bytes(), 256 << 20);
  EXPECT_EQ(map.process_time().seconds(), 5);
  EXPECT_EQ(map.grace().seconds(), 5);
  EXPECT_EQ(map.network(), v1::NETWORK_NONE);
  EXPECT_FALSE(map.has_tasks());
  EXPECT_EQ(map.inputs(0).residency(), v1::RESIDENCY_DATACENTER);
  const v1::Stage& reduce = job.stages(1);
  EXPECT_EQ(reduce.image(), "host");
  EXPECT_EQ(reduce.retry().attempts(), 1);
  EXPECT_EQ(reduce.retry().backoff().seconds(), 2);
  EXPECT_EQ(reduce.needs(0).exchange(), v1::EXCHANGE_SHUFFLE);
  EXPECT_EQ(reduce.tasks(), 1);
}

TEST(CanonicalTest, OneToOneTakesTheNumberOfTasksAlong) {
  const v1::Job job = Canonical(R"(version: houtu/v1
name: x
stages:
  - {name: c, command: [x], needs: [{stage: b, exchange: one_to_one}]}
  - {name: b, command: [x], needs: [{stage: a, exchange: one_to_one}]}
  - {name: a, command: [x], tasks: 7}
)");
  EXPECT_EQ(job.stages(0).tasks(), 7);
  EXPECT_EQ(job.stages(1).tasks(), 7);
}

TEST(CanonicalTest, ChangesNothingTheSecondTime) {
  v1::Job job = Canonical(yaml::kB0);
  const std::string once = SerializeDeterministic(job);
  Canonicalize(&job);
  EXPECT_EQ(SerializeDeterministic(job), once);
  EXPECT_TRUE(CheckJob(job).ok());
}

TEST(CanonicalTest, TheResultIsWhatNobodyElseNeeds) {
  v1::Job job = B0();
  EXPECT_THAT(OutputStages(job), ElementsAre("s2"));
  job.mutable_output()->set_stage("s1");
  EXPECT_THAT(OutputStages(job), ElementsAre("s1"));
}

}  // namespace
}  // namespace houtu::jobspec
