#include "agent/runtime/runc_runtime.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "agent/runtime/container_process.h"
#include "agent/runtime/executor_client.h"
#include "agent/runtime/lease_folder.h"
#include "agent/runtime/oci_config.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kExecutorName[] = "houtu-executor";
/// Beside the lease's own limits: the executor and what it buffers, so that a task may use all that
/// the lease was granted.
constexpr int64_t kExecutorMemoryBytes = 16 << 20;
constexpr int64_t kExecutorPids = 1;

absl::Status Check(const RuncRuntime::Options& options) {
  if (geteuid() != 0) {
    return absl::FailedPreconditionError("containers can be started by root alone");
  }
  const fs::path executor = options.program_dir / kExecutorName;
  if (access(executor.c_str(), X_OK) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition, "no program {}", executor.native());
  }
  return absl::OkStatus();
}

absl::Status MakeStateDir(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return ErrnoError(error.value(), folder.native());
  return chmod(folder.c_str(), 0700) == 0 ? absl::OkStatus() : ErrnoError(errno, folder.native());
}

/// The container's own root, who is no user of the node's, must get to its files.
absl::Status CheckReachable(const fs::path& path) {
  for (fs::path folder = path; folder != "/"; folder = folder.parent_path()) {
    struct stat info;
    if (stat(folder.c_str(), &info) != 0) return ErrnoError(errno, folder.native());
    if ((info.st_mode & S_IXOTH) == 0) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "{}: containers can't get into the work folder; chmod o+x {}", folder.native(),
                   folder.native());
    }
  }
  return absl::OkStatus();
}

/// A container's first process whose parent, runc, has gone is a child of its pid namespace's first
/// one: of nobody of ours, or of the agent, where that is it.
void ReapAndClose(int process_fd) {
  waitid(P_PIDFD, static_cast<id_t>(process_fd), nullptr, WEXITED | WNOHANG);
  close(process_fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RuncRuntime>> RuncRuntime::Create(Options options) {
  HOUTU_RETURN_IF_ERROR(Check(options));
  HOUTU_RETURN_IF_ERROR(MakeStateDir(options.state_dir));
  HOUTU_ASSIGN_OR_RETURN(
      std::string version,
      RuncCommand(options.runc, options.state_dir, options.runc_limit).Version());
  HOUTU_ASSIGN_OR_RETURN(std::unique_ptr<Cgroups> cgroups, Cgroups::Detect());
  HOUTU_ASSIGN_OR_RETURN(std::unique_ptr<ExitWatcher> watcher, ExitWatcher::Create());
  return std::unique_ptr<RuncRuntime>(new RuncRuntime(std::move(options), std::move(version),
                                                      std::move(cgroups), std::move(watcher)));
}

RuncRuntime::RuncRuntime(Options options, std::string runc_version,
                         std::unique_ptr<Cgroups> cgroups, std::unique_ptr<ExitWatcher> watcher)
    : options_(std::move(options)),
      runc_(options_.runc, options_.state_dir, options_.runc_limit),
      runc_version_(std::move(runc_version)),
      cgroups_(std::move(cgroups)),
      watcher_(std::move(watcher)) {}

std::string RuncRuntime::LeaseCgroup(const std::string& lease_id) const {
  return options_.cgroup_parent + "/" + lease_id;
}

absl::Status RuncRuntime::StartContainer(const ContainerSpec& spec) {
  // Of a container that an earlier agent, or an earlier boot, left unfinished.
  HOUTU_RETURN_IF_ERROR(DestroyContainer(spec.lease_id, spec.lease_dir));
  const absl::Status status = Launch(spec);
  if (status.ok()) return status;
  if (absl::Status undone = DestroyContainer(spec.lease_id, spec.lease_dir); !undone.ok()) {
    LogWarning("container that did not start is not removed",
               {{"lease", spec.lease_id}, {"error", undone}});
  }
  return status;
}

absl::Status RuncRuntime::Launch(const ContainerSpec& spec) {
  const absl::Time deadline = absl::Now() + options_.start_limit;
  const LeaseFolder folder(spec.lease_dir);
  const std::string cgroup = LeaseCgroup(spec.lease_id);
  HOUTU_RETURN_IF_ERROR(CheckReachable(spec.lease_dir));
  HOUTU_RETURN_IF_ERROR(folder.Prepare(spec.uid_base));
  const Resources& limits = spec.limits;
  HOUTU_RETURN_IF_ERROR(cgroups_->Create(
      cgroup,
      {.cpu_millis = limits.cpu_millis(),
       .cpu_burst = spec.cpu_burst,
       .memory_bytes = limits.memory_bytes() > 0 ? limits.memory_bytes() + kExecutorMemoryBytes : 0,
       .pids_max = spec.pids_max > 0 ? spec.pids_max + kExecutorPids : 0}));
  HOUTU_RETURN_IF_ERROR(
      WriteWholeFile(folder.run() / "config.json",
                     OciConfig(spec, {.executor = options_.program_dir / kExecutorName,
                                      .cgroups_path = cgroups_->ContainerPath(cgroup),
                                      .masked_paths = options_.masked_paths})));
  HOUTU_ASSIGN_OR_RETURN(const pid_t pid, runc_.Run(spec.lease_id, folder.run()));
  HOUTU_ASSIGN_OR_RETURN(const ContainerProcess process, ContainerProcess::Of(spec.lease_id, pid));
  HOUTU_RETURN_IF_ERROR(process.Write(folder));
  const std::optional<int> process_fd = process.Open();
  if (!process_fd) return absl::InternalError("executor: ended at once");
  absl::Status ready = ExecutorClient(folder.ctl(), pid).AwaitReady(*process_fd, deadline);
  close(*process_fd);
  if (absl::IsUnavailable(ready)) return absl::InternalError(ready.message());
  return ready;
}

absl::Status RuncRuntime::DestroyContainer(const std::string& lease_id, const fs::path& lease_dir) {
  const std::string cgroup = LeaseCgroup(lease_id);
  const absl::StatusOr<ContainerProcess> process = ContainerProcess::Read(LeaseFolder(lease_dir));
  const std::optional<int> process_fd = process.ok() ? process->Open() : std::nullopt;
  const absl::Status killed = cgroups_->Kill(cgroup);
  if (process_fd) ReapAndClose(*process_fd);
  HOUTU_RETURN_IF_ERROR(killed);
  HOUTU_RETURN_IF_ERROR(runc_.Delete(lease_id));
  HOUTU_RETURN_IF_ERROR(cgroups_->Remove(cgroup));
  std::error_code error;
  fs::remove(LeaseFolder(lease_dir).container(), error);
  return error ? ErrnoError(error.value(), LeaseFolder(lease_dir).container().native())
               : absl::OkStatus();
}

absl::StatusOr<ContainerState> RuncRuntime::Inspect(const std::string& lease_id,
                                                    const fs::path& lease_dir) {
  const absl::StatusOr<ContainerProcess> process = ContainerProcess::Read(LeaseFolder(lease_dir));
  if (process.ok() && process->Runs()) return ContainerState::kRunning;
  if (process.ok() || absl::IsDataLoss(process.status())) return ContainerState::kStopped;
  if (!absl::IsNotFound(process.status())) {
    return absl::InternalError(process.status().message());
  }
  // Without its file but with runc's state: an agent died in the middle of its start.
  return runc_.Knows(lease_id) ? ContainerState::kStopped : ContainerState::kAbsent;
}

absl::Status RuncRuntime::Watch(const std::string& lease_id, const fs::path& lease_dir,
                                std::function<void(const TaskExit&)> on_exit,
                                std::function<void()> on_container_end) {
  const LeaseFolder folder(lease_dir);
  const absl::StatusOr<ContainerProcess> process = ContainerProcess::Read(folder);
  if (!process.ok() && !absl::IsNotFound(process.status())) return process.status();
  const std::optional<int> process_fd = process.ok() ? process->Open() : std::nullopt;
  return watcher_->Watch(lease_id, folder, process_fd.value_or(-1), std::move(on_exit),
                         std::move(on_container_end));
}

void RuncRuntime::Unwatch(const std::string& lease_id) { watcher_->Unwatch(lease_id); }

std::map<std::string, std::string> RuncRuntime::Features() {
  return {{"runc", runc_version_}, {"cgroup", cgroups_->version()}};
}

}  // namespace houtu::agent
