#include "agent/runtime/cgroup.h"
#include "agent/runtime/cgroup_files.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kControllers[] = "+cpu +memory +pids";
constexpr char kInit[] = "init";
constexpr int64_t kSharesMin = 2;
constexpr int64_t kSharesRange = 262142;
constexpr int64_t kWeightRange = 9999;

/// v1's shares 2..262144 as v2's weights 1..10000, as runc and systemd translate them.
int64_t CpuWeight(int64_t cpu_millis) {
  return 1 + (CpuShares(cpu_millis) - kSharesMin) * kWeightRange / kSharesRange;
}

class CgroupsV2 : public Cgroups {
 public:
  explicit CgroupsV2(fs::path mount) : mount_(std::move(mount)) {}

  std::string version() const override { return "v2"; }

  absl::Status Create(const std::string& path, const CgroupLimits& limits) override {
    HOUTU_RETURN_IF_ERROR(PassControllersDown(fs::path(path).parent_path()));
    const fs::path folder = mount_ / path;
    HOUTU_RETURN_IF_ERROR(MakeCgroupFolder(folder));
    if (limits.cpu_millis > 0) HOUTU_RETURN_IF_ERROR(LimitCpu(folder, limits));
    if (limits.memory_bytes > 0) HOUTU_RETURN_IF_ERROR(LimitMemory(folder, limits.memory_bytes));
    if (limits.pids_max <= 0) return absl::OkStatus();
    return WriteControlFile(folder / "pids.max", std::to_string(limits.pids_max));
  }

  std::string ContainerPath(const std::string& lease_path) const override {
    return "/" + lease_path + "/" + kInit;
  }

  absl::Status AddProcess(const std::string& path, pid_t pid) override {
    return WriteControlFile(mount_ / path / "cgroup.procs", std::to_string(pid));
  }

  absl::Status Kill(const std::string& path) override {
    const fs::path folder = mount_ / path;
    return KillUntilEmpty(folder, [&folder] {
      // cgroup.kill came with Linux 5.14; before it, one process after the other.
      if (!WriteControlFile(folder / "cgroup.kill", "1").ok()) KillProcessesOnce(folder);
    });
  }

  TaskUsage Usage(const std::string& path) override {
    const fs::path folder = mount_ / path;
    return {
        .cpu_ms = ReadCounter(folder / "cpu.stat", "usage_usec") / 1000,
        .memory_peak_bytes = ReadCounter(folder / "memory.peak"),
        .out_of_memory = ReadCounter(folder / "memory.events", "oom_kill") > 0,
    };
  }

  absl::Status Remove(const std::string& path) override {
    return RemoveCgroupFolder(mount_ / path);
  }

 private:
  /// Makes the cgroups from the root down to `path` give their controllers to those below.
  absl::Status PassControllersDown(const fs::path& path) {
    fs::path folder = mount_;
    HOUTU_RETURN_IF_ERROR(WriteControlFile(folder / "cgroup.subtree_control", kControllers));
    for (const fs::path& name : path) {
      folder /= name;
      HOUTU_RETURN_IF_ERROR(MakeCgroupFolder(folder));
      HOUTU_RETURN_IF_ERROR(WriteControlFile(folder / "cgroup.subtree_control", kControllers));
    }
    return absl::OkStatus();
  }

  absl::Status LimitCpu(const fs::path& folder, const CgroupLimits& limits) {
    HOUTU_RETURN_IF_ERROR(
        WriteControlFile(folder / "cpu.weight", std::to_string(CpuWeight(limits.cpu_millis))));
    const std::string quota =
        limits.cpu_burst ? "max" : std::to_string(CpuQuotaMicros(limits.cpu_millis));
    return WriteControlFile(folder / "cpu.max", fmt::format("{} {}", quota, kCpuPeriodMicros));
  }

  absl::Status LimitMemory(const fs::path& folder, int64_t bytes) {
    HOUTU_RETURN_IF_ERROR(WriteControlFile(folder / "memory.max", std::to_string(bytes)));
    // Absent where the kernel has no swap accounting: then nothing of it is swapped by limit.
    const absl::Status swap = WriteControlFile(folder / "memory.swap.max", "0");
    return absl::IsNotFound(swap) ? absl::OkStatus() : swap;
  }

  fs::path mount_;
};

}  // namespace

std::unique_ptr<Cgroups> MakeCgroupsV2(fs::path mount) {
  return std::make_unique<CgroupsV2>(std::move(mount));
}

}  // namespace houtu::agent
