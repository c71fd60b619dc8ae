// OwnTask: one task that this datacenter's manager has, from its assignment to its recorded end.
//
//                    upstream there             a container              program ended, 0
//   (unassigned) -> kHeld --------> kWaiting ------------> kStarted --------------> kEnding
//                     ^  ^  upstream gone |                    |                       | recorded
//                     |  +----------------+                    |                       v
//                     +--- lost, or kPaused after a failure <--+                   kFinished
//                     +------- opened again by the primary: its partitions are lost ---+
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "houtu/v1/record.pb.h"

namespace houtu::jobmanager {

struct OwnTask {
  enum class Phase { kUnassigned, kHeld, kWaiting, kPaused, kStarted, kEnding, kFinished };

  Phase phase = Phase::kUnassigned;
  /// The highest attempt number that is known to have been given.
  int last_attempt = 0;
  /// The highest attempt whose end was taken into account: its later reports change nothing.
  int settled_attempt = 0;
  /// Attempts that failed by themselves.
  int failures = 0;
  /// Times that its raw input could not be read.
  int raw_input_losses = 0;
  /// kPaused: when it may try again.
  absl::Time paused_until = absl::InfinitePast();
  /// kStarted: its lease and node, and since when.
  std::string lease;
  std::string node;
  absl::Time started_at = absl::InfinitePast();
  /// kStarted: the node is known to have got it going.
  bool running = false;
  /// Null: it has none.
  std::unique_ptr<v1::RawInput> input;
  /// kEnding: what is being recorded.
  std::unique_ptr<v1::FinishedTask> result;
};

/// What a stage's listing tells of this datacenter's tasks.
struct OwnCounts {
  int assigned = 0;
  int started = 0;
  int ending = 0;
  int finished = 0;
  int attempts_failed = 0;
  int attempts_lost = 0;
  int starts_failed = 0;
};

}  // namespace houtu::jobmanager
