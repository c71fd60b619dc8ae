// TaskWork: the blocking work on attempts: inputs and start, reaping and commit. Few system calls
// each: a task that does nothing must cost next to nothing.
#pragma once

#include <optional>

#include "agent/core/effects.h"
#include "agent/core/events.h"
#include "agent/logs/log_store.h"
#include "agent/partitions/input_source.h"
#include "agent/partitions/partition_store.h"
#include "agent/runtime/container_runtime.h"
#include "agent/service/lease_records.h"
#include "agent/service/work_paths.h"
#include "houtu/v1/config.pb.h"

namespace houtu::agent {

/// An attempt whose inputs are there; what is left is the program's start.
struct PreparedTask {
  LaunchResult result;
  TaskLaunch launch;
};

/// Called by workers. Start and Reap at most one at a time for one lease; Prepare and Finish beside
/// them. Owner: the shell.
class TaskWork {
 public:
  struct Parts {
    const v1::AgentConfig* config = nullptr;
    const WorkPaths* paths = nullptr;
    const LeaseRecords* records = nullptr;
    const PartitionStore* store = nullptr;
    const InputSource* inputs = nullptr;
    LogStore* logs = nullptr;
    ContainerRuntime* runtime = nullptr;
  };
  explicit TaskWork(Parts parts) : parts_(parts) {}

  /// Records the spec, makes the task's folder, brings the inputs.
  PreparedTask Prepare(const LaunchTask& task) const;
  /// Starts the program, if Prepare went well.
  TaskLaunched Start(const LaunchTask& task, PreparedTask prepared) const;

  /// Ends what is left of the program and counts what it used.
  TaskUsage Reap(const FinishTask& task) const;
  /// Whether the outputs are small enough to be summed between two starts of the lease.
  bool CommitsFast(const FinishTask& task) const;
  /// Commits the outputs, keeps the log, records the end. `usage`: of Reap.
  TaskFinished Finish(const FinishTask& task, const TaskUsage& usage) const;
  /// After Finish: deletes the task's folder.
  void CleanUp(const FinishTask& task) const;

 private:
  LaunchResult BringInputs(const LaunchTask& task, uint32_t uid_base, std::string* raw_name) const;
  void Commit(const FinishTask& task, TaskFinished* done) const;

  Parts parts_;
};

}  // namespace houtu::agent
