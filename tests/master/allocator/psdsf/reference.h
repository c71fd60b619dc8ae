// Algorithms I and II of the PS-DSF paper as they are printed (with what its text leaves open: a
// user is released once, users are considered anew after an update, a level does not pass the
// next), as a slow and obvious reference.
#pragma once

#include <optional>

#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

/// The allocation once a whole pass changes no amount by more than 1e-12 of gamma; empty: not
/// within a great many passes. Users have no caps.
std::optional<Allocation> PrintedAlgorithm(const Instance& instance, Mode mode);

}  // namespace houtu::psdsf
