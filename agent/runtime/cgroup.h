// Cgroups: limits and counters of leases and tasks, on either of the kernel's two interfaces.
//
//   <parent>/<lease>                the lease's limits
//   <parent>/<lease>/t.<attempt>    a task's limits, counters and kill
//   <parent>/<lease>/init           v2 alone: the container's first process, because a v2 cgroup
//                                   with sub-cgroups holds no processes
//
// A path here is relative to the hierarchies' roots, without a leading slash.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/runtime/container_runtime.h"

namespace houtu::agent {

/// 0: no limit of that kind.
struct CgroupLimits {
  int64_t cpu_millis = 0;
  /// cpu_millis is a weight alone: what nobody else uses may be used.
  bool cpu_burst = false;
  int64_t memory_bytes = 0;
  int64_t pids_max = 0;
};

/// Owner: the runtime. Thread-safe: holds no state beyond the mount points. Blocks in the kernel.
class Cgroups {
 public:
  virtual ~Cgroups() = default;

  /// What the kernel has mounted: v2 where its memory controller is there, else v1.
  /// FAILED_PRECONDITION: neither has cpu, memory and pids.
  static absl::StatusOr<std::unique_ptr<Cgroups>> Detect();

  /// "v1" or "v2".
  virtual std::string version() const = 0;

  /// Makes the cgroup, its parents too, and sets its limits. OK if it exists: limits are set anew.
  /// As ErrnoError says; INVALID_ARGUMENT: a limit that the kernel refuses.
  virtual absl::Status Create(const std::string& path, const CgroupLimits& limits) = 0;

  /// Where runc puts a lease's first process: OCI's linux.cgroupsPath, with a leading slash.
  virtual std::string ContainerPath(const std::string& lease_path) const = 0;

  /// NOT_FOUND: no such cgroup, or the process has ended.
  virtual absl::Status AddProcess(const std::string& path, pid_t pid) = 0;

  /// SIGKILL to each process in it, and in those below, until none is left. OK if there is no such
  /// cgroup. DEADLINE_EXCEEDED: some process does not end (it hangs in the kernel).
  virtual absl::Status Kill(const std::string& path) = 0;

  /// Its counters; zeros where it is gone.
  virtual TaskUsage Usage(const std::string& path) = 0;

  /// Removes it and all below it; none may hold a process. OK if absent.
  virtual absl::Status Remove(const std::string& path) = 0;
};

/// Version 1: a folder tree for each controller. `mounts`: "cpu", "cpuacct", "memory", "pids" with
/// their mount points (some may share one).
std::unique_ptr<Cgroups> MakeCgroupsV1(std::map<std::string, std::filesystem::path> mounts);

/// Version 2: one tree, mounted at `mount`.
std::unique_ptr<Cgroups> MakeCgroupsV2(std::filesystem::path mount);

}  // namespace houtu::agent
