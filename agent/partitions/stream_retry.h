// Streams from other agents break: how often and when one is tried again.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace houtu::agent {

/// Most tries of one stream.
inline constexpr int kStreamTriesMax = 4;

struct StreamRetry {
  /// Pause before the second try; it doubles.
  absl::Duration pause = absl::Milliseconds(200);
  /// Waits; tests pass their own.
  std::function<void(absl::Duration)> sleep;
};

/// The status of the first `attempt` that does not end as broken streams do (UNAVAILABLE,
/// DEADLINE_EXCEEDED, CANCELLED), or of the last. Each attempt must start afresh.
absl::Status RetryStream(const StreamRetry& retry, const std::function<absl::Status()>& attempt);

}  // namespace houtu::agent
