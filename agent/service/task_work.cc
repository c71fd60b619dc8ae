#include "agent/service/task_work.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "agent/core/exit_reason.h"
#include "agent/partitions/files.h"
#include "agent/runtime/lease_folder.h"
#include "agent/service/container_work.h"
#include "agent/service/manager_files.h"
#include "agent/service/task_environment.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// Outputs up to this size are summed in a few milliseconds.
constexpr int64_t kFastCommitBytes = 4 << 20;

LaunchResult NodeFault(const absl::Status& status) {
  return {.kind = LaunchResult::Kind::kNodeFault, .message = Message(status)};
}

LaunchResult::Kind KindOf(const absl::Status& status) {
  // ALREADY_EXISTS: started by this agent before its restart.
  if (status.ok() || absl::IsAlreadyExists(status)) {
    return LaunchResult::Kind::kStarted;
  }
  if (absl::IsNotFound(status) || absl::IsPermissionDenied(status)) {
    return LaunchResult::Kind::kNotExecutable;
  }
  return absl::IsUnavailable(status) ? LaunchResult::Kind::kContainerGone
                                     : LaunchResult::Kind::kNodeFault;
}

TaskLaunch LaunchOf(const v1::AgentConfig& config, const v1::TaskSpec& spec,
                    const std::string& raw_name) {
  const AttemptKey key = KeyOf(spec.id());
  TaskLaunch launch{.id = key,
                    .lease_id = spec.lease_id(),
                    .command = {spec.command().begin(), spec.command().end()},
                    .env = TaskEnvironment(spec, raw_name),
                    .working_dir = ContainerTaskDir(key) + "/work",
                    .limits = Resources::FromProto(spec.resources()),
                    .cpu_burst = IsManager(key),
                    .pids_max = config.pids_max(),
                    .grace = FromProto(spec.grace()),
                    .log_bytes_max = config.log_bytes_max()};
  if (spec.has_timeout()) {
    launch.timeout = FromProto(spec.timeout());
  }
  if (IsManager(key)) {
    launch.command = ManagerCommand(key);
  }
  return launch;
}

}  // namespace

PreparedTask TaskWork::Prepare(const LaunchTask& task) const {
  const AttemptKey key = KeyOf(task.spec.id());
  const fs::path lease_dir = parts_.paths->lease(task.spec.lease_id());
  const uint32_t uid_base = UidBaseOf(*parts_.config, task.lease);
  PreparedTask prepared;
  absl::Status status = parts_.records->WriteSpec(task.spec);
  if (status.ok()) {
    status = PrepareTaskDir(lease_dir, key, uid_base);
  }
  if (status.ok() && IsManager(key)) {
    status = LayOutManager(*parts_.config, *parts_.paths, task.lease, key, uid_base);
  }
  if (!status.ok()) {
    prepared.result = NodeFault(status);
    return prepared;
  }
  std::string raw_name;
  prepared.result = BringInputs(task, uid_base, &raw_name);
  prepared.launch = LaunchOf(*parts_.config, task.spec, raw_name);
  return prepared;
}

LaunchResult TaskWork::BringInputs(const LaunchTask& task, uint32_t uid_base,
                                   std::string* raw_name) const {
  const AttemptKey key = KeyOf(task.spec.id());
  InputOutcome outcome =
      parts_.inputs->Bring(task.spec, {.staging = parts_.paths->staging(task.spec.lease_id(), key),
                                       .task_dir = parts_.paths->task(task.spec.lease_id(), key),
                                       .uid_base = uid_base});
  *raw_name = outcome.raw_name;
  LaunchResult result{.message = Message(outcome.status),
                      .lost = std::move(outcome.lost),
                      .input_local_bytes = outcome.local_bytes,
                      .input_bytes_from = std::move(outcome.bytes_from)};
  if (!outcome.status.ok()) {
    result.kind = absl::IsDataLoss(outcome.status) ? LaunchResult::Kind::kInputLost
                                                   : LaunchResult::Kind::kNodeFault;
  }
  return result;
}

TaskLaunched TaskWork::Start(const LaunchTask& task, PreparedTask prepared) const {
  const AttemptKey key = KeyOf(task.spec.id());
  TaskLaunched launched{
      .lease_id = task.spec.lease_id(), .key = key, .result = std::move(prepared.result)};
  if (launched.result.kind != LaunchResult::Kind::kStarted) {
    return launched;
  }
  parts_.logs->AddLive(key, parts_.paths->task(launched.lease_id, key));
  const absl::Status status =
      parts_.runtime->StartTask(parts_.paths->lease(launched.lease_id), prepared.launch);
  launched.result.kind = KindOf(status);
  launched.result.message = Message(status);
  return launched;
}

TaskUsage TaskWork::Reap(const FinishTask& task) const {
  if (!task.exit) {
    return {};
  }
  const absl::StatusOr<TaskUsage> usage =
      parts_.runtime->ReapTask(parts_.paths->lease(task.lease_id), KeyOf(task.spec.id()));
  if (!usage.ok()) {
    LogWarning("task not reaped",
               {{"task", Describe(KeyOf(task.spec.id()))}, {"error", usage.status()}});
    return {};
  }
  return *usage;
}

bool TaskWork::CommitsFast(const FinishTask& task) const {
  int64_t bytes = 0;
  std::error_code error;
  const fs::path out = parts_.paths->task(task.lease_id, KeyOf(task.spec.id())) / "out";
  for (fs::directory_iterator it(out, error), end; !error && it != end; it.increment(error)) {
    struct stat st;
    if (lstat(it->path().c_str(), &st) == 0) {
      bytes += st.st_size;
    }
    if (bytes > kFastCommitBytes) {
      return false;
    }
  }
  return true;
}

TaskFinished TaskWork::Finish(const FinishTask& task, const TaskUsage& usage) const {
  const AttemptKey key = KeyOf(task.spec.id());
  const fs::path folder = parts_.paths->task(task.lease_id, key);
  TaskFinished done{.lease_id = task.lease_id, .key = key, .report = task.report};
  if (task.exit) {
    const ExitReason reason = ReasonOf(*task.exit, usage, task.spec);
    done.report.set_end_reason(reason.reason);
    if (done.report.message().empty()) {
      done.report.set_message(reason.message);
    }
    done.report.set_exit_status(task.exit->signal == 0 ? task.exit->exit_status : 0);
    done.report.set_signal(task.exit->signal);
    *done.report.mutable_started_at() = ToProto(task.exit->started_at);
    *done.report.mutable_ended_at() = ToProto(task.exit->ended_at);
    done.report.set_cpu_used_ms(usage.cpu_ms);
    done.report.set_memory_peak_bytes(usage.memory_peak_bytes);
  }
  if (!IsManager(key)) {
    Commit(task, &done);
  } else if (const std::string line =
                 LastLogLine({.head = folder / "log.head", .ring = folder / "log.ring"});
             !line.empty()) {
    done.report.set_message(done.report.message() + ": " + line);
  }
  if (absl::Status kept = parts_.logs->Keep(key, folder); !kept.ok()) {
    LogWarning("log not kept", {{"task", Describe(key)}, {"error", kept}});
  }
  if (absl::Status recorded = parts_.records->WriteAttemptEnd(done.report);
      !recorded.ok() && done.node_status.ok()) {
    done.node_status = recorded;
  }
  return done;
}

void TaskWork::Commit(const FinishTask& task, TaskFinished* done) const {
  if (done->report.end_reason() != v1::TASK_END_REASON_SUCCEEDED) {
    return;
  }
  absl::StatusOr<std::vector<v1::Partition>> partitions = parts_.store->Commit(
      done->key, parts_.paths->task(task.lease_id, done->key),
      {task.spec.declared_outputs().begin(), task.spec.declared_outputs().end()});
  if (partitions.ok()) {
    done->report.mutable_partitions()->Assign(partitions->begin(), partitions->end());
    return;
  }
  done->report.set_message(Message(partitions.status()));
  if (absl::IsInvalidArgument(partitions.status())) {
    done->report.set_end_reason(v1::TASK_END_REASON_BAD_OUTPUT);
    return;
  }
  // It did its work, but the node could not keep it: as if the node had gone.
  done->report.set_end_reason(v1::TASK_END_REASON_LOST);
  done->node_status = partitions.status();
}

void TaskWork::CleanUp(const FinishTask& task) const {
  const AttemptKey key = KeyOf(task.spec.id());
  const LeaseFolder folder(parts_.paths->lease(task.lease_id));
  if (absl::Status status = RemoveTree(folder.task(key)); !status.ok()) {
    LogWarning("task's folder not deleted", {{"task", Describe(key)}, {"error", status}});
  }
  folder.UnmarkStarted(key);
}

}  // namespace houtu::agent
