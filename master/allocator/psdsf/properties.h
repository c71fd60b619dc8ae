// The properties by which the PS-DSF paper compares policies, as checkers of one allocation. Each
// returns the first violation in words; empty: there is none. Pure; any thread. Precondition of
// all: the allocation has the instance's shape and is feasible.
#pragma once

#include <optional>
#include <string>

#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

/// Sharing incentive: every user runs at least what it would if each server, eligible or not,
/// were divided by weight. `slack`: relative.
std::optional<std::string> FindWorseThanUniform(const Instance& instance,
                                                const Allocation& allocation, double slack = 1e-7);

/// Envy-freeness: no user could run more with what another has, adjusted by weight. In time
/// division what a user has is its time on each server, else the resources that its tasks take.
std::optional<std::string> FindEnvy(const Instance& instance, const Allocation& allocation,
                                    Mode mode, double slack = 1e-7);

/// Bottleneck fairness: if one resource is dominant for every user on every eligible server, the
/// allocation is max-min fair in it, by weight. Nothing is violated where no resource is.
std::optional<std::string> FindBottleneckUnfairness(const Instance& instance,
                                                    const Allocation& allocation);

}  // namespace houtu::psdsf
