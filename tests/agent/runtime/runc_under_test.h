// RuncUnderTest: real containers below a temporary folder and cgroups of this process's own.
#pragma once

#include <memory>
#include <string>

#include "agent/images/rootfs.h"
#include "agent/runtime/runc_runtime.h"
#include "tests/agent/runtime/runtime_under_test.h"

namespace houtu::testing {

class RuncUnderTest : public RuntimeUnderTest {
 public:
  static std::unique_ptr<RuncUnderTest> MakeRunc(std::string* why_not);
  ~RuncUnderTest() override;

  agent::ContainerRuntime& runtime() override { return *runtime_; }
  void Restart() override;
  agent::ContainerSpec Spec(const std::string& lease_id) override;
  std::vector<std::string> Command(Program program) override;
  void PrepareTask(const agent::ContainerSpec& spec, const AttemptKey& id) override;
  void AwaitIgnoresTerm(const agent::ContainerSpec& spec, const AttemptKey& id) override;
  void KillFirstProcess(const agent::ContainerSpec& spec) override;

  const std::filesystem::path& work_dir() const { return work_dir_; }
  /// Images may lie in here.
  std::filesystem::path image_root() const { return work_dir_ / "roots"; }
  agent::ImageRootfs& rootfs() { return rootfs_; }
  const std::string& cgroup_parent() const { return options_.cgroup_parent; }

 private:
  explicit RuncUnderTest(std::filesystem::path work_dir);

  std::filesystem::path work_dir_;
  agent::RuncRuntime::Options options_;
  agent::ImageRootfs rootfs_;
  std::vector<agent::ContainerSpec> specs_;
  std::unique_ptr<agent::RuncRuntime> runtime_;
};

/// Waits until the file exists; false: it does not come within 30 s. Its folder exists.
bool AwaitFile(const std::filesystem::path& file);

}  // namespace houtu::testing
