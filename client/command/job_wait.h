// Waiting for a job's end, with progress on stderr.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "client/command/console.h"
#include "client/command/session.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {

struct WaitOptions {
  /// Unset (infinite): no limit.
  absl::Duration timeout = absl::InfiniteDuration();
  /// On a terminal too, each change of a stage and each new reason to wait is a line that stays.
  bool follow = false;
};

/// Waits; `last` is the newest status known (as given, if none came). The exit status is that of
/// the job's end, kTimeout, kInterrupted, or that of an error; all but ends are told on stderr.
ExitStatus WaitForJob(const Console& console, Session* session, const std::string& job,
                      const WaitOptions& options, v1::JobStatus* last);

/// "wordcount (j0…) FAILED: why" to stdout, for people; nothing of a job that has not ended.
void PrintEnd(const Console& console, const v1::JobStatus& status);

/// `houtu job wait`.
ExitStatus JobWait(const Console& console, Session* session, const std::string& job,
                   const WaitOptions& options);

}  // namespace houtu::client
