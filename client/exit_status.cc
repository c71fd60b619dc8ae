#include "client/exit_status.h"

#include <algorithm>
#include <array>

namespace houtu::client {
namespace {

struct Row {
  absl::StatusCode code;
  ExitStatus submit;
  ExitStatus other;
};

// Codes that don't stand here (INTERNAL, UNKNOWN, DATA_LOSS …) are faults: kJobFailed.
constexpr std::array kRows = std::to_array<Row>({
    {absl::StatusCode::kInvalidArgument, ExitStatus::kBadUsage, ExitStatus::kBadUsage},
    {absl::StatusCode::kOutOfRange, ExitStatus::kBadUsage, ExitStatus::kBadUsage},
    {absl::StatusCode::kNotFound, ExitStatus::kNotFound, ExitStatus::kNotFound},
    {absl::StatusCode::kUnauthenticated, ExitStatus::kNotAllowed, ExitStatus::kNotAllowed},
    {absl::StatusCode::kPermissionDenied, ExitStatus::kNotAllowed, ExitStatus::kNotAllowed},
    {absl::StatusCode::kAlreadyExists, ExitStatus::kConflict, ExitStatus::kConflict},
    {absl::StatusCode::kAborted, ExitStatus::kConflict, ExitStatus::kConflict},
    {absl::StatusCode::kFailedPrecondition, ExitStatus::kNotPlaceable, ExitStatus::kConflict},
    {absl::StatusCode::kResourceExhausted, ExitStatus::kNotPlaceable, ExitStatus::kConflict},
    {absl::StatusCode::kUnavailable, ExitStatus::kUnreachable, ExitStatus::kUnreachable},
    {absl::StatusCode::kDeadlineExceeded, ExitStatus::kUnreachable, ExitStatus::kUnreachable},
    {absl::StatusCode::kCancelled, ExitStatus::kInterrupted, ExitStatus::kInterrupted},
});

}  // namespace

ExitStatus ExitStatusOf(const absl::Status& status, Purpose purpose) {
  if (status.ok()) {
    return ExitStatus::kDone;
  }
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& r) { return r.code == status.code(); });
  if (row == kRows.end()) {
    return ExitStatus::kJobFailed;
  }
  return purpose == Purpose::kSubmit ? row->submit : row->other;
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
