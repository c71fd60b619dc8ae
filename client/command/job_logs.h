// houtu job logs: a task's output, or that of several tasks one after the other.
#pragma once

#include "client/command/console.h"
#include "client/command/session.h"
#include "client/logs/log_target.h"

namespace houtu::client {

struct LogsOptions {
  LogTarget target;
  bool follow = false;
  LogTail tail;
};

/// Raw bytes, or text made harmless where stdout is a terminal. With `follow` the target must be
/// one task.
ExitStatus JobLogs(const Console& console, Session* session, const LogsOptions& options);

}  // namespace houtu::client
