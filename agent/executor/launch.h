// Launch: forks the process that becomes a task's program.
#pragma once

#include <sys/types.h>

#include "agent/executor/protocol.h"

namespace houtu::agent {

/// A forked child that waits at its gate, and the executor's ends of its pipes (non-blocking).
struct Launched {
  pid_t pid = -1;
  /// What the task writes to its standard output and error.
  int output_fd = -1;
  /// End of file: exec succeeded. A CommandResult: the step that failed.
  int exec_fd = -1;
};

/// Forks. The child makes a session of its own, tells the agent its pid over `connection_fd`, waits
/// there for the agent's kAck, and becomes the program; descriptor 0 of the executor (/dev/null) is
/// its input. On failure `failure` says why and -1 stands in pid.
Launched Launch(const StartCommand& command, int connection_fd, CommandResult& failure);

}  // namespace houtu::agent
