// Theorem 1 of the PS-DSF paper as a checker: whether an allocation is feasible and PS-DSF.
//   RDM: every user that is below its cap has at each eligible server a bottleneck: a resource
//   that it needs, that is used up there, and of which nobody holds some whose level there is
//   higher than its own.
//   TDM: the server's time is used up, and nobody whose level is higher has some of it.
#pragma once

#include <optional>
#include <string>

#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

struct Tolerance {
  /// Use beyond a capacity or a cap, as a part of it.
  double excess = 1e-9;
  /// A resource less free than this part of the server's capacity is used up; a user within this
  /// part of its cap has reached it; a user with less than this part of gamma holds nothing.
  double slack = 1e-7;
  /// Levels that differ less than this, as a part of the higher one, are equal.
  double level = 1e-7;
};

/// The first violation in words ("server 1: ..."); empty: there is none. Precondition: the
/// allocation has the instance's shape.
std::optional<std::string> FindViolation(const Instance& instance, const Allocation& allocation,
                                         Mode mode, const Tolerance& tolerance = {});

/// Only whether it is feasible: no negative amounts, no server overfull, nothing on servers that
/// are not eligible, no cap exceeded. Holds for the allocations of every policy.
std::optional<std::string> FindInfeasibility(const Instance& instance, const Allocation& allocation,
                                             Mode mode, const Tolerance& tolerance = {});

}  // namespace houtu::psdsf
