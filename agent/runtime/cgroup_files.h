// What both cgroup versions do alike with the folders of a hierarchy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace houtu::agent {

/// The period over which a cpu quota counts.
inline constexpr int64_t kCpuPeriodMicros = 100'000;
/// The kernel's least quota.
inline constexpr int64_t kCpuQuotaMinMicros = 1'000;
/// Relative weight of one cpu in v1's cpu.shares.
inline constexpr int64_t kCpuSharesPerCpu = 1024;

int64_t CpuQuotaMicros(int64_t cpu_millis);
int64_t CpuShares(int64_t cpu_millis);

/// OK if it exists.
absl::Status MakeCgroupFolder(const std::filesystem::path& folder);

/// Removes the folder and its sub-folders. OK if absent.
absl::Status RemoveCgroupFolder(const std::filesystem::path& folder);

/// Whether the cgroup or one below it holds a process.
bool HoldsProcesses(const std::filesystem::path& folder);

/// SIGKILL to each process of the cgroup and those below it; each is checked to be (still) in there
/// through its pidfd, so that a reused pid is never hit.
void KillProcessesOnce(const std::filesystem::path& folder);

/// Waits until the cgroup is empty, calling `kill` again and again. DEADLINE_EXCEEDED.
template <typename Kill>
absl::Status KillUntilEmpty(const std::filesystem::path& folder, Kill kill);

/// The number behind `key` in "key value" lines, or the whole file's where `key` is empty; 0 where
/// there is none.
int64_t ReadCounter(const std::filesystem::path& file, std::string_view key = {});

/// One step of waiting for killed processes to go. False once `waited_steps` says that the time is
/// up.
bool WaitForKilled(int& waited_steps);

template <typename Kill>
absl::Status KillUntilEmpty(const std::filesystem::path& folder, Kill kill) {
  for (int steps = 0; HoldsProcesses(folder);) {
    kill();
    if (!WaitForKilled(steps)) {
      return absl::DeadlineExceededError(
          folder.native() + ": a killed process does not end (it hangs in the kernel)");
    }
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
