// LineBudget: so many lines a second of one kind, however often their cause recurs.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace houtu {

/// Thread-safe. Owner: who logs lines of that kind.
class LineBudget {
 public:
  explicit LineBudget(int lines_per_second) : lines_per_second_(lines_per_second) {}

  /// Whether a line may be logged at `now`: then the lines that were held back since the last one
  /// that was not. `now` may fall: that begins a new second.
  std::optional<int> Take(absl::Time now) {
    const std::lock_guard lock(mutex_);
    if (now < second_ || now - second_ >= absl::Seconds(1)) {
      second_ = now;
      taken_ = 0;
    }
    if (taken_ >= lines_per_second_) {
      ++held_back_;
      return std::nullopt;
    }
    ++taken_;
    return std::exchange(held_back_, 0);
  }

 private:
  const int lines_per_second_;
  std::mutex mutex_;
  absl::Time second_ = absl::InfinitePast();  // when the second that counts began
  int taken_ = 0;
  int held_back_ = 0;
};

}  // namespace houtu
