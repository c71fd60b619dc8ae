// ExecutorClient: the agent's side of a container's executor (agent/executor/protocol.h). One
// connection for each command, closed with its answer.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/executor/protocol.h"

namespace houtu::agent {

/// Stateless, thread-safe; calls block up to kCommandLimit.
class ExecutorClient {
 public:
  /// Limit of one command, exec included.
  static constexpr absl::Duration kCommandLimit = absl::Seconds(10);

  /// `ctl`: the folder of the socket. `executor_pid`: who must have made the socket, because a task
  /// could put one of its own there; 0: anybody (tests).
  ExecutorClient(std::filesystem::path ctl, pid_t executor_pid)
      : ctl_(std::move(ctl)), executor_pid_(executor_pid) {}

  /// Waits until the executor listens (it makes the `ready` file) and answers. `process_fd`: its
  /// pidfd, -1: not known. UNAVAILABLE: it has ended. DEADLINE_EXCEEDED.
  absl::Status AwaitReady(int process_fd, absl::Time deadline) const;

  /// Starts a program; `move` is called with the child's pid while it waits at its gate and puts it
  /// into its cgroups. OK: exec has succeeded. NOT_FOUND, PERMISSION_DENIED: the program or its
  /// working folder. RESOURCE_EXHAUSTED: no more processes, or the disk is full. UNAVAILABLE: no
  /// executor. As `move`. INTERNAL.
  absl::Status Start(const StartCommand& command,
                     const std::function<absl::Status(pid_t)>& move) const;

  /// NOT_FOUND: no such attempt runs. UNAVAILABLE.
  absl::Status Stop(const StopCommand& command) const;

  /// Names of the attempts whose end is not recorded. UNAVAILABLE.
  absl::StatusOr<std::vector<std::string>> List() const;

 private:
  absl::Status Ping() const;

  std::filesystem::path ctl_;
  pid_t executor_pid_;
};

}  // namespace houtu::agent
