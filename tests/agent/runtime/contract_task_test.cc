#include <csignal>

#include "tests/agent/runtime/contract_fixture.h"

namespace houtu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(RuntimeContract, ATasksExitStatusIsTold) {
  StartContainer();
  const agent::TaskExit exit = Run(Launch(1, Program::kExitsWith3));
  EXPECT_EQ(exit.exit_status, 3);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_FALSE(exit.stopped);
  EXPECT_FALSE(exit.timed_out);
  EXPECT_GE(exit.ended_at, exit.started_at);
  EXPECT_THAT(*runtime().ListExits(spec_.lease_dir), SizeIs(1));
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), IsEmpty());
}

TEST_F(RuntimeContract, AStoppedTaskEndsBySigterm) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), ElementsAre(Key(1)));
  ASSERT_TRUE(runtime().StopTask(spec_.lease_dir, Key(1), absl::Seconds(20)).ok());
  const std::optional<agent::TaskExit> exit = ends_->AwaitExit(Key(1));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGTERM);
  EXPECT_EQ(exit->exit_status, -1);
  EXPECT_TRUE(exit->stopped);
}

TEST_F(RuntimeContract, ATaskThatIgnoresSigtermIsKilledAfterItsGrace) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kIgnoresTerm)).ok());
  node_->AwaitIgnoresTerm(spec_, Key(1));
  ASSERT_TRUE(runtime().StopTask(spec_.lease_dir, Key(1), absl::Milliseconds(200)).ok());
  const std::optional<agent::TaskExit> exit = ends_->AwaitExit(Key(1));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_TRUE(exit->stopped);
}

TEST_F(RuntimeContract, ATaskThatRunsLongerThanItsTimeoutIsEnded) {
  StartContainer();
  agent::TaskLaunch launch = Launch(1, Program::kLasts);
  launch.timeout = absl::Milliseconds(100);
  const agent::TaskExit exit = Run(launch);
  EXPECT_TRUE(exit.timed_out);
  EXPECT_FALSE(exit.stopped);
  EXPECT_EQ(exit.signal, SIGTERM);
}

TEST_F(RuntimeContract, ATaskThatUsesMoreThanItsMemoryIsToldToBeOutOfIt) {
  StartContainer();
  const agent::TaskExit exit = Run(Launch(1, Program::kEatsMemory));
  EXPECT_EQ(exit.signal, SIGKILL);
  const absl::StatusOr<agent::TaskUsage> usage = runtime().ReapTask(spec_.lease_dir, Key(1));
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_TRUE(usage->out_of_memory);
  EXPECT_GT(usage->memory_peak_bytes, 16 << 20);
}

TEST_F(RuntimeContract, AReapedTaskCountsNothingMore) {
  StartContainer();
  Run(Launch(1, Program::kSucceeds));
  ASSERT_TRUE(runtime().ReapTask(spec_.lease_dir, Key(1)).ok());
  const absl::StatusOr<agent::TaskUsage> again = runtime().ReapTask(spec_.lease_dir, Key(1));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->cpu_ms, 0);
  EXPECT_EQ(again->memory_peak_bytes, 0);
  EXPECT_FALSE(again->out_of_memory);
}

TEST_F(RuntimeContract, AProgramThatDoesNotExistIsNotFoundAndLeavesNoTrace) {
  StartContainer();
  EXPECT_THAT(Start(Launch(1, Program::kAbsent)), HasCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), IsEmpty());
  EXPECT_THAT(*runtime().ListExits(spec_.lease_dir), IsEmpty());
  EXPECT_EQ(Run(Launch(1, Program::kSucceeds)).exit_status, 0);
}

TEST_F(RuntimeContract, AFileThatCantBeExecutedIsDenied) {
  StartContainer();
  EXPECT_THAT(Start(Launch(1, Program::kNotExecutable)),
              HasCode(absl::StatusCode::kPermissionDenied));
}

TEST_F(RuntimeContract, AnAttemptStartsOnce) {
  StartContainer();
  Run(Launch(1, Program::kSucceeds));
  EXPECT_THAT(Start(Launch(1, Program::kSucceeds)), HasCode(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(ends_->CountOf(Key(1)), 1);
}

TEST_F(RuntimeContract, NoTaskStartsWithoutAContainer) {
  EXPECT_THAT(runtime().StartTask(spec_.lease_dir, Launch(1, Program::kSucceeds)),
              HasCode(absl::StatusCode::kUnavailable));
}

TEST_F(RuntimeContract, ATaskThatDoesNotRunCantBeStopped) {
  StartContainer();
  EXPECT_THAT(runtime().StopTask(spec_.lease_dir, Key(1), absl::ZeroDuration()),
              HasCode(absl::StatusCode::kNotFound));
  Run(Launch(1, Program::kSucceeds));
  EXPECT_THAT(runtime().StopTask(spec_.lease_dir, Key(1), absl::ZeroDuration()),
              HasCode(absl::StatusCode::kNotFound));
}

TEST_F(RuntimeContract, TwoTasksRunAtOnceAndEndEachByItself) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  ASSERT_TRUE(Start(Launch(2, Program::kLasts)).ok());
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), ElementsAre(Key(1), Key(2)));
  ASSERT_TRUE(runtime().StopTask(spec_.lease_dir, Key(1), absl::Seconds(20)).ok());
  ASSERT_TRUE(ends_->AwaitExit(Key(1)).has_value());
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), ElementsAre(Key(2)));
  EXPECT_EQ(ends_->CountOf(Key(2)), 0);
}

TEST_F(RuntimeContract, TheContainerOutlivesItsTasks) {
  StartContainer();
  for (int task = 1; task <= 20; ++task) {
    EXPECT_EQ(Run(Launch(task, Program::kSucceeds)).exit_status, 0);
    EXPECT_TRUE(runtime().ReapTask(spec_.lease_dir, Key(task)).ok());
  }
  Run(Launch(21, Program::kEatsMemory));
  EXPECT_EQ(Run(Launch(22, Program::kExitsWith3)).exit_status, 3);
  EXPECT_EQ(State(), agent::ContainerState::kRunning);
}

}  // namespace
}  // namespace houtu::testing
