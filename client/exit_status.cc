#include "client/exit_status.h"

namespace houtu::client {

ExitStatus ExitStatusOf(const absl::Status& status, Purpose purpose) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitStatus::kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitStatus::kBadUsage;
    case absl::StatusCode::kNotFound:
      return ExitStatus::kNotFound;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return ExitStatus::kNotAllowed;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return ExitStatus::kConflict;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return purpose == Purpose::kSubmit ? ExitStatus::kNotPlaceable : ExitStatus::kConflict;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitStatus::kUnreachable;
    case absl::StatusCode::kCancelled:
      return ExitStatus::kInterrupted;
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
    default:
      return ExitStatus::kJobFailed;
  }
}

ExitStatus ExitStatusOf(v1::JobState state) {
  if (state == v1::JOB_STATE_SUCCEEDED) {
    return ExitStatus::kDone;
  }
  return state == v1::JOB_STATE_CANCELLED ? ExitStatus::kCancelled : ExitStatus::kJobFailed;
}

bool IsRetryable(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kAborted;
}

}  // namespace houtu::client
