// Whole containers: a task is placed or not, and placed tasks stay where they are. Servers are
// visited in a random order, a new one every round (as Mesos does); on each visit a server grants
// one task to the user of the smallest key whose task fits, until nothing fits anywhere.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

/// What a user's key at a server is. x: its tasks everywhere; ties go to the smaller index.
enum class WholePolicy {
  /// Its level there: x/(phi gamma).
  kPsdsf,
  /// The same by what is left of the server: x max_r d[r]/(c[r]-used[r]) / phi (Shan and others).
  kResidualPsdsf,
  /// Dominant share of the whole cluster, and the user chooses its server: the one whose free
  /// resources are proportioned most like its demand (best fit).
  kBestFitDrf,
  /// Dominant share of the whole cluster.
  kDrf,
  /// x over what it could run on all servers as if every one were eligible.
  kTsf,
};

using WholeAllocation = BasicAllocation<int64_t>;

/// The tasks of each user on each server, `running` (tasks that run already) included.
/// Cost: O(log N) per grant and O(N K) at the start; O(N) per grant for kResidualPsdsf, O(K) for
/// kBestFitDrf. The same seed and input give the same result.
/// INVALID_ARGUMENT: the instance, or `running` is not of its shape or exceeds a capacity.
absl::StatusOr<WholeAllocation> AllocateWhole(const WholeInstance& instance, WholePolicy policy,
                                              uint64_t seed, const WholeAllocation& running);

/// With nothing running yet.
absl::StatusOr<WholeAllocation> AllocateWhole(const WholeInstance& instance, WholePolicy policy,
                                              uint64_t seed);

}  // namespace houtu::psdsf
