// The exit statuses of houtu and houtu-submit (docs/commands.md).
#pragma once

#include "absl/status/status.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {

enum class ExitStatus {
  kDone = 0,
  kJobFailed = 1,
  kBadUsage = 2,    // bad usage or invalid file; nothing was sent
  kNotFound = 3,    // not found, or expired
  kNotAllowed = 4,  // not authenticated or not allowed
  kConflict = 5,
  kNotPlaceable = 6,  // the cluster can't take the job
  kUnreachable = 7,   // no leader or unreachable; safe to try again
  kTimeout = 8,       // --timeout passed, the job goes on
  kCancelled = 9,     // the job was cancelled
  kInterrupted = 130  // Ctrl-C; the job goes on
};

/// What a failed command is for. A refused submission and a refused other command share a code but
/// not a status: kNotPlaceable against kConflict.
enum class Purpose { kSubmit, kOther };

/// The exit status of an error. CANCELLED means that the user interrupted.
ExitStatus ExitStatusOf(const absl::Status& status, Purpose purpose);

/// The exit status of a job's end. Precondition: the state is one of an end.
ExitStatus ExitStatusOf(v1::JobState state);

/// Whether the same command may well succeed if it is given again unchanged.
bool IsRetryable(const absl::Status& status);

}  // namespace houtu::client
