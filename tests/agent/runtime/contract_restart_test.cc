#include <csignal>

#include "tests/agent/runtime/contract_fixture.h"

namespace houtu::testing {
namespace {

using agent::ContainerState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(RuntimeContract, ARestartFindsTheContainerAndItsTasks) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  node_->Restart();
  EXPECT_EQ(State(), ContainerState::kRunning);
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), ElementsAre(Key(1)));
  EXPECT_THAT(*runtime().ListExits(spec_.lease_dir), IsEmpty());
}

TEST_F(RuntimeContract, ARestartFindsExitsFromBefore) {
  StartContainer();
  Run(Launch(1, Program::kExitsWith3));
  node_->Restart();
  const absl::StatusOr<std::vector<agent::TaskExit>> exits = runtime().ListExits(spec_.lease_dir);
  ASSERT_TRUE(exits.ok());
  ASSERT_THAT(*exits, SizeIs(1));
  EXPECT_EQ(exits->front().id, Key(1));
  EXPECT_EQ(exits->front().exit_status, 3);
}

TEST_F(RuntimeContract, AfterARestartATasksEndIsTold) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  node_->Restart();
  Watch();
  ASSERT_TRUE(runtime().StopTask(spec_.lease_dir, Key(1), absl::Seconds(20)).ok());
  const std::optional<agent::TaskExit> exit = ends_->AwaitExit(Key(1));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGTERM);
  EXPECT_EQ(ends_->CountOf(Key(1)), 1);
}

TEST_F(RuntimeContract, AfterARestartAContainersEndIsTold) {
  StartContainer();
  node_->Restart();
  Watch();
  node_->KillFirstProcess(spec_);
  EXPECT_TRUE(ends_->AwaitContainerEnd());
}

TEST_F(RuntimeContract, AfterARestartAContainerIsDestroyed) {
  StartContainer();
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  node_->Restart();
  EXPECT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
  EXPECT_EQ(State(), ContainerState::kAbsent);
}

TEST_F(RuntimeContract, AfterARestartTasksStart) {
  StartContainer();
  node_->Restart();
  Watch();
  EXPECT_EQ(Run(Launch(1, Program::kExitsWith3)).exit_status, 3);
  EXPECT_THAT(Start(Launch(1, Program::kSucceeds)), HasCode(absl::StatusCode::kAlreadyExists));
}

}  // namespace
}  // namespace houtu::testing
