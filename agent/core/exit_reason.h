// How an attempt ended, told from its program's exit and its cgroup's counters.
#pragma once

#include <string>

#include "agent/runtime/container_runtime.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

struct ExitReason {
  /// SUCCEEDED means exit 0: the outputs are still to be committed.
  v1::TaskEndReason reason = v1::TASK_END_REASON_UNSPECIFIED;
  std::string message;
};

/// A stop by command rules over the exit status: a program that answers SIGTERM with exit 0 has not
/// done its work. Pure.
ExitReason ReasonOf(const TaskExit& exit, const TaskUsage& usage, const v1::TaskSpec& spec);

}  // namespace houtu::agent
