#include "agent/runtime/runc_runtime.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

/// The lease's first process, if it runs. UNAVAILABLE: it does not.
absl::StatusOr<ContainerProcess> RunningProcess(const LeaseFolder& folder) {
  absl::StatusOr<ContainerProcess> process = ContainerProcess::Read(folder);
  if (absl::IsNotFound(process.status()) || (process.ok() && !process->Runs())) {
    return absl::UnavailableError("the lease's container does not run");
  }
  return process;
}

StartCommand CommandOf(const TaskLaunch& launch) {
  return {
      .name = FolderName(launch.id),
      .argv = launch.command,
      .env = launch.env,
      .working_dir = launch.working_dir,
      .log_bytes_max = launch.log_bytes_max,
      .timeout_ms = launch.timeout ? absl::ToInt64Milliseconds(*launch.timeout) : 0,
      .grace_ms = absl::ToInt64Milliseconds(launch.grace),
  };
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

std::string RuncRuntime::TaskCgroup(const std::string& lease_id, const AttemptKey& id) const {
  return LeaseCgroup(lease_id) + "/t." + FolderName(id);
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
  HOUTU_RETURN_IF_ERROR(folder.Prepare(spec.uid_base));
  const Resources& limits = spec.limits;
  HOUTU_RETURN_IF_ERROR(cgroups_->Create(
      cgroup,
      {.cpu_millis = limits.cpu_millis(),
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
  HOUTU_RETURN_IF_ERROR(cgroups_->Kill(cgroup));
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

absl::Status RuncRuntime::StartTask(const fs::path& lease_dir, const TaskLaunch& launch) {
  const LeaseFolder folder(lease_dir);
  HOUTU_ASSIGN_OR_RETURN(const ContainerProcess process, RunningProcess(folder));
  HOUTU_RETURN_IF_ERROR(folder.MarkStarted(launch.id));
  const std::string cgroup = TaskCgroup(process.lease_id, launch.id);
  absl::Status status = watcher_->AddAttempt(process.lease_id, launch.id);
  if (status.ok()) status = RunProgramIn(launch, process.pid, lease_dir, cgroup);
  if (status.ok()) return status;
  watcher_->DropAttempt(process.lease_id, launch.id);
  absl::Status undone = cgroups_->Kill(cgroup);
  undone.Update(cgroups_->Remove(cgroup));
  if (!undone.ok()) {
    LogWarning("task that did not start is not removed",
               {{"task", Describe(launch.id)}, {"error", undone}});
  }
  folder.UnmarkStarted(launch.id);
  return status;
}

absl::Status RuncRuntime::RunProgramIn(const TaskLaunch& launch, pid_t executor,
                                       const fs::path& lease_dir, const std::string& cgroup) {
  HOUTU_RETURN_IF_ERROR(cgroups_->Create(cgroup, {.cpu_millis = launch.limits.cpu_millis(),
                                                  .memory_bytes = launch.limits.memory_bytes(),
                                                  .pids_max = launch.pids_max}));
  return ExecutorClient(LeaseFolder(lease_dir).ctl(), executor)
      .Start(CommandOf(launch), [&](pid_t pid) { return cgroups_->AddProcess(cgroup, pid); });
}

absl::Status RuncRuntime::StopTask(const fs::path& lease_dir, const AttemptKey& id,
                                   absl::Duration grace) {
  const LeaseFolder folder(lease_dir);
  const absl::StatusOr<ContainerProcess> process = RunningProcess(folder);
  if (!process.ok()) {
    return Error(absl::StatusCode::kNotFound, "{} does not run", Describe(id));
  }
  return ExecutorClient(folder.ctl(), process->pid)
      .Stop({.name = FolderName(id), .grace_ms = absl::ToInt64Milliseconds(grace)});
}

absl::StatusOr<TaskUsage> RuncRuntime::ReapTask(const fs::path& lease_dir, const AttemptKey& id) {
  const absl::StatusOr<ContainerProcess> process = ContainerProcess::Read(LeaseFolder(lease_dir));
  if (absl::IsNotFound(process.status())) return TaskUsage{};
  if (!process.ok()) return process.status();
  const std::string cgroup = TaskCgroup(process->lease_id, id);
  HOUTU_RETURN_IF_ERROR(cgroups_->Kill(cgroup));
  const TaskUsage usage = cgroups_->Usage(cgroup);
  HOUTU_RETURN_IF_ERROR(cgroups_->Remove(cgroup));
  return usage;
}

absl::StatusOr<std::vector<TaskExit>> RuncRuntime::ListExits(const fs::path& lease_dir) {
  const LeaseFolder folder(lease_dir);
  HOUTU_ASSIGN_OR_RETURN(const std::vector<AttemptKey> started, folder.Started());
  std::vector<TaskExit> exits;
  for (const AttemptKey& id : started) {
    const absl::StatusOr<std::optional<TaskExit>> exit = folder.ReadExit(id);
    // A file that the task put there is no exit; the executor's own comes over it.
    if (absl::IsFailedPrecondition(exit.status())) continue;
    if (!exit.ok()) return exit.status();
    if (exit->has_value()) exits.push_back(**exit);
  }
  return exits;
}

absl::StatusOr<std::vector<AttemptKey>> RuncRuntime::ListRunning(const fs::path& lease_dir) {
  const LeaseFolder folder(lease_dir);
  std::optional<std::vector<std::string>> known;
  if (const absl::StatusOr<ContainerProcess> process = RunningProcess(folder); process.ok()) {
    HOUTU_ASSIGN_OR_RETURN(known, ExecutorClient(folder.ctl(), process->pid).List());
  }
  HOUTU_ASSIGN_OR_RETURN(const std::vector<TaskExit> exits, ListExits(lease_dir));
  HOUTU_ASSIGN_OR_RETURN(std::vector<AttemptKey> running, folder.Started());
  // An agent may have died between its note and the start: what the executor, asked before the
  // exits were read, does not have and what has no exit never ran.
  std::erase_if(running, [&](const AttemptKey& id) {
    const bool ended = std::any_of(exits.begin(), exits.end(),
                                   [&id](const TaskExit& exit) { return exit.id == id; });
    return ended || (known && !std::binary_search(known->begin(), known->end(), FolderName(id)));
  });
  return running;
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
