// When what failed is tried again.
#pragma once

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace houtu::jobmanager {

/// Whether a call that ended so may succeed if it is made again: its peer was not reached, or went.
inline bool MayComeYet(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kCancelled;
}

/// The pause after so many failures in a row: it doubles.
inline absl::Duration PauseAfter(int failures, absl::Duration first, absl::Duration max) {
  absl::Duration pause = first;
  for (int i = 1; i < failures && pause < max; ++i) {
    pause *= 2;
  }
  return std::min(pause, max);
}

}  // namespace houtu::jobmanager
