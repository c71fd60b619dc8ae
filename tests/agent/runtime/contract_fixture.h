// The fixture of the contract suite, which runs on each implementation of ContainerRuntime.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/agent/runtime/runtime_under_test.h"

namespace houtu::testing {

/// What a watch told, to be waited for.
class Ends {
 public:
  void AddExit(const agent::TaskExit& exit);
  void AddContainerEnd();

  /// The attempt's exit once it is told; nullopt after kWait.
  std::optional<agent::TaskExit> AwaitExit(const AttemptKey& id);
  bool AwaitContainerEnd();
  int CountOf(const AttemptKey& id);

 private:
  std::optional<agent::TaskExit> Find(const AttemptKey& id) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<agent::TaskExit> exits_;
  int container_ends_ = 0;
};

/// Skips where Make gives nothing. Has one lease; its container starts with StartContainer.
class RuntimeContract : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  agent::ContainerRuntime& runtime() { return node_->runtime(); }
  void StartContainer();
  void Watch();
  agent::ContainerState State();

  AttemptKey Key(int task) const { return {"job", "stage", task, 1}; }
  agent::TaskLaunch Launch(int task, Program program);
  /// Makes the folder, too.
  absl::Status Start(const agent::TaskLaunch& launch);
  /// Starts it and waits for its end, which is the test's failure if it does not come.
  agent::TaskExit Run(const agent::TaskLaunch& launch);

  std::unique_ptr<RuntimeUnderTest> node_;
  agent::ContainerSpec spec_;
  /// Shared with callbacks that may outlive a test.
  std::shared_ptr<Ends> ends_ = std::make_shared<Ends>();
};

MATCHER_P(HasCode, code, "") {
  *result_listener << arg.ToString();
  return arg.code() == code;
}

}  // namespace houtu::testing
