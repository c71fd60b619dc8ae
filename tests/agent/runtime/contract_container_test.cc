#include "tests/agent/runtime/contract_fixture.h"

namespace houtu::testing {
namespace {

using agent::ContainerState;
using ::testing::SizeIs;

TEST_F(RuntimeContract, AContainerThatWasNeverStartedIsAbsent) {
  EXPECT_EQ(State(), ContainerState::kAbsent);
  EXPECT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
  EXPECT_THAT(*runtime().ListExits(spec_.lease_dir), SizeIs(0));
  EXPECT_THAT(*runtime().ListRunning(spec_.lease_dir), SizeIs(0));
}

TEST_F(RuntimeContract, AStartedContainerRunsUntilItIsDestroyed) {
  StartContainer();
  EXPECT_EQ(State(), ContainerState::kRunning);
  EXPECT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
  EXPECT_EQ(State(), ContainerState::kAbsent);
  EXPECT_TRUE(ends_->AwaitContainerEnd());
}

TEST_F(RuntimeContract, ADestroyedContainerCanBeStartedAgain) {
  StartContainer();
  ASSERT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
  StartContainer();
  EXPECT_EQ(State(), ContainerState::kRunning);
  EXPECT_EQ(Run(Launch(1, Program::kSucceeds)).exit_status, 0);
}

TEST_F(RuntimeContract, AContainerThatEndsByItselfIsToldAndStopped) {
  StartContainer();
  node_->KillFirstProcess(spec_);
  EXPECT_TRUE(ends_->AwaitContainerEnd());
  EXPECT_EQ(State(), ContainerState::kStopped);
}

TEST_F(RuntimeContract, AStoppedContainerCanBeStartedAgain) {
  StartContainer();
  node_->KillFirstProcess(spec_);
  ASSERT_TRUE(ends_->AwaitContainerEnd());
  ASSERT_TRUE(runtime().StartContainer(spec_).ok());
  EXPECT_EQ(State(), ContainerState::kRunning);
}

TEST_F(RuntimeContract, AWatchOfAContainerThatHasEndedTellsItsEnd) {
  StartContainer();
  runtime().Unwatch(spec_.lease_id);
  node_->KillFirstProcess(spec_);
  Watch();
  EXPECT_TRUE(ends_->AwaitContainerEnd());
}

TEST_F(RuntimeContract, WhatAnUnwatchedLeaseDoesIsNotTold) {
  StartContainer();
  runtime().Unwatch(spec_.lease_id);
  ASSERT_TRUE(Start(Launch(1, Program::kLasts)).ok());
  ASSERT_TRUE(runtime().StopTask(spec_.lease_dir, Key(1), absl::Seconds(5)).ok());
  ASSERT_TRUE(runtime().DestroyContainer(spec_.lease_id, spec_.lease_dir).ok());
  EXPECT_EQ(ends_->CountOf(Key(1)), 0);
}

TEST_F(RuntimeContract, FeaturesTellTheRuntime) {
  EXPECT_TRUE(runtime().Features().contains("runc"));
}

}  // namespace
}  // namespace houtu::testing
