// What the contract suite needs of an implementation. Each test program links one implementation of
// RuntimeUnderTest::Make.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/runtime/container_runtime.h"

namespace houtu::testing {

enum class Program {
  kSucceeds,
  kExitsWith3,
  /// Until a signal.
  kLasts,
  kIgnoresTerm,
  /// More than 32 MiB.
  kEatsMemory,
  kAbsent,
  kNotExecutable,
};

/// A node without containers.
class RuntimeUnderTest {
 public:
  /// Empty if there can be none on this machine; `why_not` says why.
  static std::unique_ptr<RuntimeUnderTest> Make(std::string* why_not);
  /// Nothing is left of its containers.
  virtual ~RuntimeUnderTest() = default;

  virtual agent::ContainerRuntime& runtime() = 0;
  /// As if the agent died and came back: another object for the same node.
  virtual void Restart() = 0;

  virtual agent::ContainerSpec Spec(const std::string& lease_id) = 0;
  virtual std::vector<std::string> Command(Program program) = 0;
  /// Makes the attempt's folder; the container runs.
  virtual void PrepareTask(const agent::ContainerSpec& spec, const AttemptKey& id) = 0;
  /// Waits until a started kIgnoresTerm ignores it.
  virtual void AwaitIgnoresTerm(const agent::ContainerSpec& spec, const AttemptKey& id) = 0;
  /// The container's first process dies by itself.
  virtual void KillFirstProcess(const agent::ContainerSpec& spec) = 0;
};

}  // namespace houtu::testing
