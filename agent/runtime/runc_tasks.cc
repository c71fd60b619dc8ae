// RuncRuntime's tasks: a cgroup each, started and stopped by the container's executor.
#include <algorithm>
#include <optional>

#include "agent/runtime/container_process.h"
#include "agent/runtime/executor_client.h"
#include "agent/runtime/lease_folder.h"
#include "agent/runtime/runc_runtime.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

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

std::string RuncRuntime::TaskCgroup(const std::string& lease_id, const AttemptKey& id) const {
  return LeaseCgroup(lease_id) + "/t." + FolderName(id);
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
                                                  .cpu_burst = launch.cpu_burst,
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

}  // namespace houtu::agent
