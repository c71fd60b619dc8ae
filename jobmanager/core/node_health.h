// NodeHealth: nodes that fail to start this job's tasks are left alone for growing pauses, so that
// one with a full disk does not take and fail every task in milliseconds (case C22).
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"

namespace houtu::jobmanager {

/// Owner: SubJob. Not thread-safe. A node is unproven until it has started a task, and again after
/// a failed start; an unproven node is given few starts at a time, after a failure a single one.
class NodeHealth {
 public:
  /// How many starts the node may be given now; 0 while it pauses.
  int StartsLeft(const std::string& node, absl::Time now) const;

  void StartSent(const std::string& node);
  /// A start that was sent is known to have worked, or to be undecided for ever (a lost machine).
  void Started(const std::string& node);
  void StartUndecided(const std::string& node);
  /// A start failed for the node's reasons. Failures of starts that were sent before the pause
  /// began do not lengthen it.
  void StartFailed(const std::string& node, absl::Time now, std::string message);

  struct Paused {
    std::string node;
    absl::Time until;
    std::string message;
  };
  /// The node whose pause ends first, of those paused now; until InfiniteFuture: none.
  Paused FirstPaused(absl::Time now) const;

 private:
  struct Node {
    bool proven = false;
    int rounds_failed = 0;
    int undecided = 0;
    absl::Time paused_until = absl::InfinitePast();
    std::string message;
  };
  std::map<std::string, Node> nodes_;
};

}  // namespace houtu::jobmanager
