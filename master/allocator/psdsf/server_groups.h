// Servers that no user can tell apart (same capacity, same eligibility) as one server of their
// summed capacity. That is exact: gamma of the group is its size times that of each, so all levels
// are divided by the same number, and an allocation of the group, divided evenly, meets Theorem
// 1's conditions on each server if and only if it does so on the group. Plain values; any thread.
#pragma once

#include <vector>

#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"

namespace houtu::psdsf {

struct ServerGroup {
  /// Ascending.
  std::vector<int> servers;
  /// Of all of them together.
  std::vector<double> capacity;
  /// Of the group, by user; 0: not eligible or not able.
  std::vector<double> gamma;
};

/// Ordered by their first server. Without `merge`, one group per server.
std::vector<ServerGroup> GroupServers(const Instance& instance, bool merge);

/// gamma of the user at the group.
double GroupGamma(const Instance& instance, const ServerGroup& group, int user);

/// Tasks by group and user, [group * users + user], divided evenly over the servers of each group.
Allocation SpreadOverServers(const Instance& instance, const std::vector<ServerGroup>& groups,
                             const std::vector<double>& tasks);

/// The reverse: what each user has on each group; nothing where it has no gamma.
std::vector<double> GatherByGroup(const std::vector<ServerGroup>& groups,
                                  const Allocation& allocation);

}  // namespace houtu::psdsf
