// The counterpart of running tasks through the system: the same command by bare posix_spawn, each
// into a fresh cgroup of its own, and nothing else.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/runtime/cgroup.h"

namespace houtu::bench {

struct BareRun {
  absl::Duration took;
  /// Processes that had ended before they were moved into their cgroup: the program runs while its
  /// parent moves it, and is short. The kernel does the work of the move all the same.
  int ended_before_move = 0;
};

/// Runs /bin/true `count` times, `parallel` at a time, each in a cgroup with the limits of a task,
/// made in every hierarchy that the agent uses, its counters read and removed. Needs root.
/// Errors as Cgroups tells them; INTERNAL: a process did not exit with 0; CANCELLED: SIGINT or
/// SIGTERM came meanwhile. All cgroups are removed then, too.
absl::StatusOr<BareRun> RunBare(int count, int parallel, const agent::CgroupLimits& limits);

}  // namespace houtu::bench
