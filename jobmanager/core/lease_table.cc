#include "jobmanager/core/lease_table.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace houtu::jobmanager {

bool LeaseTable::Add(const v1::LeaseGranted& granted, absl::Time now) {
  const v1::Lease& lease = granted.lease();
  HeldLease held;
  held.id = lease.id();
  held.node = lease.node();
  held.rack = granted.rack();
  held.agent_address = granted.agent_address();
  held.size = Resources::FromProto(lease.resources());
  held.free = held.size;
  held.system = {lease.image(), lease.network()};
  held.idle_since = now;
  if (!leases_.emplace(lease.id(), std::move(held)).second) {
    return false;
  }
  by_node_[lease.node()].insert(lease.id());
  if (!granted.rack().empty()) {
    racks_[granted.rack()].insert(lease.node());
  }
  return true;
}

std::map<AttemptRef, Resources> LeaseTable::Remove(const std::string& lease) {
  const auto it = leases_.find(lease);
  if (it == leases_.end()) {
    return {};
  }
  std::set<std::string>& of_node = by_node_[it->second.node];
  of_node.erase(lease);
  if (of_node.empty()) {
    by_node_.erase(it->second.node);
  }
  std::map<AttemptRef, Resources> running = std::move(it->second.running);
  leases_.erase(it);
  return running;
}

HeldLease* LeaseTable::Find(const std::string& lease) {
  const auto it = leases_.find(lease);
  return it == leases_.end() ? nullptr : &it->second;
}

std::vector<AttemptRef> LeaseTable::RunningOn(const std::string& node) const {
  std::vector<AttemptRef> running;
  if (const auto it = by_node_.find(node); it != by_node_.end()) {
    for (const std::string& lease : it->second) {
      for (const auto& [attempt, taken] : leases_.at(lease).running) {
        running.push_back(attempt);
      }
    }
  }
  return running;
}

const std::set<std::string>& LeaseTable::RackNodes(const std::string& rack) const {
  static const auto* const kNone = new std::set<std::string>();
  const auto it = racks_.find(rack);
  return it == racks_.end() ? *kNone : it->second;
}

void LeaseTable::Occupy(const std::string& lease, const AttemptRef& attempt,
                        const ContainerShape& shape) {
  HeldLease* held = Find(lease);
  HOUTU_CHECK(held != nullptr, "a task starts in a held lease");
  const Resources taken = shape.resources.FitsIn(held->free) ? shape.resources : held->free;
  held->system = shape.system;
  held->free -= taken;
  held->running[attempt] = taken;
}

void LeaseTable::Vacate(const std::string& lease, const AttemptRef& attempt, absl::Time now) {
  HeldLease* held = Find(lease);
  if (held == nullptr) {
    return;
  }
  const auto it = held->running.find(attempt);
  if (it == held->running.end()) {
    return;
  }
  held->free += it->second;
  held->running.erase(it);
  if (held->idle()) {
    held->idle_since = now;
  }
}

}  // namespace houtu::jobmanager
