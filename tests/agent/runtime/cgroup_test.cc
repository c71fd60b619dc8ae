// This machine's own cgroups, whichever version.
#include "agent/runtime/cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace houtu::testing {
namespace {

using agent::Cgroups;

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Cgroups>> detected = Cgroups::Detect();
    if (geteuid() != 0 || !detected.ok()) {
      GTEST_SKIP() << "needs root and cgroups: " << detected.status();
    }
    cgroups_ = std::move(*detected);
    const absl::Status status =
        cgroups_->Create(path_, {.cpu_millis = 500, .memory_bytes = 64 << 20, .pids_max = 8});
    if (!status.ok()) GTEST_SKIP() << "cgroups can't be made here: " << status;
  }
  void TearDown() override {
    if (cgroups_ == nullptr) return;
    EXPECT_TRUE(cgroups_->Kill(parent_).ok());
    EXPECT_TRUE(cgroups_->Remove(parent_).ok());
  }
  static pid_t Sleeper() {
    const char* argv[] = {"sleep", "1000", nullptr};
    pid_t pid = -1;
    posix_spawnp(&pid, argv[0], nullptr, nullptr, const_cast<char**>(argv), environ);
    return pid;
  }

  const std::string parent_ = "houtu-cgroup-test-" + std::to_string(getpid());
  const std::string path_ = parent_ + "/lease/t.1";
  std::unique_ptr<Cgroups> cgroups_;
};

TEST_F(CgroupTest, CreatedTwiceIsFine) {
  EXPECT_TRUE(cgroups_->Create(path_, {.memory_bytes = 32 << 20}).ok());
}

TEST_F(CgroupTest, AKilledCgroupIsEmptyAndCanBeRemoved) {
  const pid_t pid = Sleeper();
  ASSERT_TRUE(cgroups_->AddProcess(path_, pid).ok());
  EXPECT_TRUE(cgroups_->Kill(parent_).ok());
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(cgroups_->Remove(path_).ok());
}

TEST_F(CgroupTest, UsageOfAProcessIsCounted) {
  const pid_t pid = Sleeper();
  ASSERT_TRUE(cgroups_->AddProcess(path_, pid).ok());
  EXPECT_FALSE(cgroups_->Usage(path_).out_of_memory);
  EXPECT_TRUE(cgroups_->Kill(path_).ok());
  waitpid(pid, nullptr, 0);
}

TEST_F(CgroupTest, WhatIsNotThereIsNoErrorToKillRemoveOrCount) {
  EXPECT_TRUE(cgroups_->Kill(parent_ + "/none").ok());
  EXPECT_TRUE(cgroups_->Remove(parent_ + "/none").ok());
  EXPECT_EQ(cgroups_->Usage(parent_ + "/none").cpu_ms, 0);
}

TEST_F(CgroupTest, AProcessThatHasEndedIsNotFound) {
  const pid_t pid = Sleeper();
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(cgroups_->AddProcess(path_, pid).ok());
}

}  // namespace
}  // namespace houtu::testing
