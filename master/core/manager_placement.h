// Where a job manager's container goes. Not the allocator's business: managers are never bid for or
// preempted.
#pragma once

#include <optional>
#include <string>

#include "common/base/resources.h"
#include "master/allocator/allocator.h"
#include "master/core/lease_book.h"
#include "master/core/node_book.h"

namespace houtu::master {

/// Managers may hold at most this part of a node, in percent: else many small jobs' managers could
/// fill the cluster and leave no room for a single task.
inline constexpr int64_t kManagerPercentMax = 50;

/// The node with room for another manager that has the fewest managers, then the most memory free,
/// then by name. Empty: none has room now.
std::optional<std::string> ChooseManagerNode(const Resources& manager, const NodeBook& nodes,
                                             const LeaseBook& leases, const Allocator& allocator);

}  // namespace houtu::master
