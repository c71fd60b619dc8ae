// Reconnect: growing pauses between attempts to get a session back.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace houtu {

/// A value of one peer. Next() starts at 20 ms and doubles up to 1 s; Reset after a success.
class Reconnect {
 public:
  absl::Duration Next() {
    const absl::Duration pause = pause_;
    pause_ = std::min(pause_ * 2, kMax);
    return pause;
  }
  void Reset() { pause_ = kFirst; }

 private:
  static constexpr absl::Duration kFirst = absl::Milliseconds(20);
  static constexpr absl::Duration kMax = absl::Seconds(1);
  absl::Duration pause_ = kFirst;
};

}  // namespace houtu
