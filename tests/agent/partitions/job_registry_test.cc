#include "agent/partitions/job_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobRegistryTest : public ::testing::Test {
 protected:
  const houtu::testing::TempFolder folder_;
  const JobRegistry jobs_{folder_.path() / "jobs"};
};

TEST_F(JobRegistryTest, AJobIsWhoseItWasRecordedFirst) {
  ASSERT_TRUE(jobs_.Record("j1", {.account = "alice", .token_sha256 = "sum"}).ok());
  ASSERT_TRUE(jobs_.Record("j1", {.account = "mallory", .token_sha256 = "other"}).ok());
  const auto owner = JobRegistry(folder_.path() / "jobs").Find("j1");
  ASSERT_TRUE(owner.has_value());
  EXPECT_EQ(owner->account, "alice");
  EXPECT_EQ(owner->token_sha256, "sum");
}

// Leases of one job come side by side; a shared temporary file once took the node out of service.
TEST_F(JobRegistryTest, OneJobIsRecordedFromManyThreads) {
  constexpr int kJobs = 200;
  constexpr int kThreads = 4;
  std::atomic<int> failed = 0;
  std::barrier together(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int job = 0; job < kJobs; ++job) {
          together.arrive_and_wait();
          failed += jobs_.Record("j" + std::to_string(job), {.account = "alice"}).ok() ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(failed, 0);
}

TEST_F(JobRegistryTest, AJobThatWasNeverHereHasNoOwner) {
  EXPECT_FALSE(jobs_.Find("j2").has_value());
  EXPECT_FALSE(jobs_.Find("").has_value());
}

TEST_F(JobRegistryTest, ANameLeadsToNoOtherFolder) {
  ASSERT_TRUE(jobs_.Record("j1", {.account = "alice"}).ok());
  EXPECT_FALSE(jobs_.Find("../jobs/j1").has_value());
}

TEST_F(JobRegistryTest, ARecordThatWasCutOffIsWrittenAnew) {
  houtu::testing::WriteText(folder_.path() / "jobs" / "j1.new", "ha");
  ASSERT_TRUE(jobs_.Record("j1", {.account = "alice"}).ok());
  EXPECT_EQ(jobs_.Find("j1")->account, "alice");
}

TEST_F(JobRegistryTest, JobsWhoseRetentionIsOverAreFoundAndRemoved) {
  ASSERT_TRUE(jobs_.Record("j1", {.account = "alice"}).ok());
  ASSERT_TRUE(jobs_.Record("j2", {.account = "alice"}).ok());
  ASSERT_TRUE(jobs_.MarkEnded("j1").ok());
  ASSERT_TRUE(jobs_.MarkEnded("j1").ok());
  EXPECT_THAT(jobs_.EndedBefore(absl::Now() - absl::Hours(1)), IsEmpty());
  EXPECT_THAT(jobs_.EndedBefore(absl::Now() + absl::Hours(1)), ElementsAre("j1"));
  jobs_.Remove("j1");
  EXPECT_THAT(jobs_.EndedBefore(absl::Now() + absl::Hours(1)), IsEmpty());
  EXPECT_FALSE(jobs_.Find("j1").has_value());
  EXPECT_TRUE(jobs_.Find("j2").has_value());
}

}  // namespace
}  // namespace houtu::agent
