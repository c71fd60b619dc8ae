#include "agent/logs/log_store.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/executor/log_format.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::houtu::testing::ReadText;
using ::houtu::testing::WriteText;

class LogStoreTest : public ::testing::Test {
 protected:
  static AttemptKey Id(int attempt) {
    return {.job = "j1", .stage = "map", .task = 3, .attempt = attempt};
  }
  fs::path TaskDir(int attempt) const { return folder_.path() / "tasks" / std::to_string(attempt); }
  void Run(int attempt) {
    WriteText(TaskDir(attempt) / kLogHeadName, "log " + std::to_string(attempt));
    store_.AddLive(Id(attempt), TaskDir(attempt));
  }

  const houtu::testing::TempFolder folder_;
  LogStore store_{folder_.path() / "logs"};
};

TEST_F(LogStoreTest, ALogIsInItsTasksFolderThenWithItsJob) {
  Run(1);
  WriteText(TaskDir(1) / kLogRingName, "ring");
  const auto live = store_.Find(Id(1));
  ASSERT_TRUE(live.has_value());
  EXPECT_TRUE(live->live);
  EXPECT_EQ(live->paths.head, TaskDir(1) / kLogHeadName);
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  const auto kept = store_.Find(Id(1));
  ASSERT_TRUE(kept.has_value());
  EXPECT_FALSE(kept->live);
  EXPECT_EQ(ReadText(kept->paths.head), "log 1");
  EXPECT_EQ(ReadText(kept->paths.ring), "ring");
}

TEST_F(LogStoreTest, KeepingAgainLeavesWhatIsKept) {
  Run(1);
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  EXPECT_EQ(ReadText(store_.Find(Id(1))->paths.head), "log 1");
}

TEST_F(LogStoreTest, AnAttemptThatNeverStartedHasNoLog) {
  store_.AddLive(Id(1), TaskDir(1));
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  EXPECT_FALSE(store_.Find(Id(1)).has_value());
}

TEST_F(LogStoreTest, TheNewestAttemptIsFoundRunningOrEnded) {
  Run(2);
  ASSERT_TRUE(store_.Keep(Id(2), TaskDir(2)).ok());
  EXPECT_EQ(store_.Find(Id(0))->id.attempt, 2);
  Run(10);
  EXPECT_EQ(store_.Find(Id(0))->id.attempt, 10);
  EXPECT_TRUE(store_.Find(Id(0))->live);
  ASSERT_TRUE(store_.Keep(Id(10), TaskDir(10)).ok());
  EXPECT_EQ(store_.Find(Id(0))->id.attempt, 10) << "10 is newer than 2";
}

TEST_F(LogStoreTest, AnotherTasksOrStagesAttemptsAreNotIts) {
  for (const AttemptKey& other :
       {AttemptKey{.job = "j1", .stage = "map", .task = 33, .attempt = 9},
        AttemptKey{.job = "j1", .stage = "map.3", .task = 3, .attempt = 9},
        AttemptKey{.job = "j2", .stage = "map", .task = 3, .attempt = 9}}) {
    WriteText(folder_.path() / "other" / kLogHeadName, "x");
    ASSERT_TRUE(store_.Keep(other, folder_.path() / "other").ok());
  }
  EXPECT_FALSE(store_.Find(Id(0)).has_value());
}

TEST_F(LogStoreTest, AnAgentThatStartsAnewFindsWhatWasKept) {
  Run(1);
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  const LogStore next(folder_.path() / "logs");
  EXPECT_TRUE(next.Find(Id(1)).has_value());
}

TEST_F(LogStoreTest, AForgottenJobsLogsAreGone) {
  Run(1);
  ASSERT_TRUE(store_.Keep(Id(1), TaskDir(1)).ok());
  ASSERT_TRUE(store_.Forget("j1").ok());
  EXPECT_FALSE(store_.Find(Id(1)).has_value());
}

}  // namespace
}  // namespace houtu::agent
