// The counterpart of running tasks through the system: the same command by bare posix_spawn, each
// into a fresh cgroup of its own, and nothing else.
#pragma once

#include "absl/status/statusor.h"

namespace houtu::bench {

/// Runs /bin/true `count` times, `parallel` at a time; the seconds it took. Needs root.
absl::StatusOr<double> BareSpawnSeconds(int count, int parallel);

}  // namespace houtu::bench
