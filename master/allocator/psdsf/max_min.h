// The policies that PS-DSF is compared with: each gives every user one level for the whole
// cluster, and makes the levels max-min fair. That takes linear programs (GLPK), so these are for
// experiments; no daemon links them. Pure; one thread.
//
// The level of a user with x tasks of weight phi:
//   DRFH, C-DRFH   x/phi max_r d[r] / (capacity of r in the cluster); the former where there are no
//                  placement constraints, the latter with them
//   CDRF, TSF      x/phi / (tasks that it could run on all servers, eligible or not); likewise
#pragma once

#include "absl/status/statusor.h"
#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

enum class MaxMinPolicy { kDrfh, kConstrainedDrfh, kCdrf, kTsf };

/// Levels are exact to about 1e-8 (relative), capacities are never exceeded.
/// INVALID_ARGUMENT: the instance. FAILED_PRECONDITION: kDrfh or kCdrf, and a user that cannot run
/// on some server, with both named. INTERNAL: GLPK gave up, with its code.
absl::StatusOr<Allocation> MaxMinAllocation(const Instance& instance, MaxMinPolicy policy);

}  // namespace houtu::psdsf
