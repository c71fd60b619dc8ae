#include <algorithm>
#include <vector>

#include "agent/runtime/cgroup.h"
#include "agent/runtime/cgroup_files.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// No control file at all is no failure: the kernel was built without that counter.
absl::Status WriteIfThere(const fs::path& file, int64_t value) {
  const absl::Status status = WriteControlFile(file, std::to_string(value));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

constexpr int64_t kNoQuota = -1;

class CgroupsV1 : public Cgroups {
 public:
  explicit CgroupsV1(std::map<std::string, fs::path> mounts) : mounts_(std::move(mounts)) {
    for (const auto& [controller, mount] : mounts_) {
      if (std::find(roots_.begin(), roots_.end(), mount) == roots_.end()) roots_.push_back(mount);
    }
  }

  std::string version() const override { return "v1"; }

  absl::Status Create(const std::string& path, const CgroupLimits& limits) override {
    for (const fs::path& root : roots_) HOUTU_RETURN_IF_ERROR(MakeCgroupFolder(root / path));
    if (limits.cpu_millis > 0) HOUTU_RETURN_IF_ERROR(LimitCpu(path, limits));
    if (limits.memory_bytes > 0) HOUTU_RETURN_IF_ERROR(LimitMemory(path, limits.memory_bytes));
    if (limits.pids_max > 0) HOUTU_RETURN_IF_ERROR(LimitPids(path, limits.pids_max));
    return absl::OkStatus();
  }

  std::string ContainerPath(const std::string& lease_path) const override {
    return "/" + lease_path;
  }

  absl::Status AddProcess(const std::string& path, pid_t pid) override {
    for (const fs::path& root : roots_) {
      HOUTU_RETURN_IF_ERROR(WriteControlFile(root / path / "cgroup.procs", std::to_string(pid)));
    }
    return absl::OkStatus();
  }

  absl::Status Kill(const std::string& path) override {
    const fs::path folder = At("pids", path);
    if (!HoldsProcesses(folder)) return absl::OkStatus();
    // No new forks from here on, or a fork bomb would run away from its killer.
    HOUTU_RETURN_IF_ERROR(WriteIfThere(folder / "pids.max", 0));
    return KillUntilEmpty(folder, [&folder] { KillProcessesOnce(folder); });
  }

  TaskUsage Usage(const std::string& path) override {
    const fs::path memory = At("memory", path);
    return {
        .cpu_ms = ReadCounter(At("cpuacct", path) / "cpuacct.usage") / 1'000'000,
        .memory_peak_bytes = ReadCounter(memory / "memory.max_usage_in_bytes"),
        .out_of_memory = ReadCounter(memory / "memory.oom_control", "oom_kill") > 0,
    };
  }

  absl::Status Remove(const std::string& path) override {
    absl::Status first;
    for (const fs::path& root : roots_) first.Update(RemoveCgroupFolder(root / path));
    return first;
  }

 private:
  fs::path At(const std::string& controller, const std::string& path) const {
    return mounts_.at(controller) / path;
  }

  absl::Status LimitCpu(const std::string& path, const CgroupLimits& limits) {
    const fs::path folder = At("cpu", path);
    HOUTU_RETURN_IF_ERROR(
        WriteControlFile(folder / "cpu.shares", std::to_string(CpuShares(limits.cpu_millis))));
    HOUTU_RETURN_IF_ERROR(WriteIfThere(folder / "cpu.cfs_period_us", kCpuPeriodMicros));
    return WriteIfThere(folder / "cpu.cfs_quota_us",
                        limits.cpu_burst ? kNoQuota : CpuQuotaMicros(limits.cpu_millis));
  }

  absl::Status LimitMemory(const std::string& path, int64_t bytes) {
    const fs::path folder = At("memory", path);
    HOUTU_RETURN_IF_ERROR(
        WriteControlFile(folder / "memory.limit_in_bytes", std::to_string(bytes)));
    // Memory and swap together: what does not fit is out of memory, it is not swapped.
    return WriteIfThere(folder / "memory.memsw.limit_in_bytes", bytes);
  }

  absl::Status LimitPids(const std::string& path, int64_t pids_max) {
    return WriteControlFile(At("pids", path) / "pids.max", std::to_string(pids_max));
  }

  std::map<std::string, fs::path> mounts_;
  /// The distinct mount points.
  std::vector<fs::path> roots_;
};

}  // namespace

std::unique_ptr<Cgroups> MakeCgroupsV1(std::map<std::string, fs::path> mounts) {
  return std::make_unique<CgroupsV1>(std::move(mounts));
}

}  // namespace houtu::agent
