#include "master/core/manager_placement.h"

#include <tuple>

namespace houtu::master {
namespace {

Resources ManagersPart(const Resources& capacity) {
  return {capacity.cpu_millis() * kManagerPercentMax / 100,
          capacity.memory_bytes() * kManagerPercentMax / 100};
}

}  // namespace

std::optional<std::string> ChooseManagerNode(const Resources& manager, const NodeBook& nodes,
                                             const LeaseBook& leases, const Allocator& allocator) {
  std::optional<std::string> best;
  std::tuple<int, int64_t> best_rank;
  for (const auto& [name, entry] : nodes.all()) {
    const std::optional<Resources> free = allocator.Free(name);
    if (!entry.Takes() || !free.has_value() || !manager.FitsIn(*free)) {
      continue;
    }
    int managers = 0;
    Resources held = manager;
    for (const std::string& id : leases.OnNode(name)) {
      const v1::Lease& lease = leases.Find(id)->lease;
      if (lease.kind() == v1::Lease::KIND_MANAGER) {
        ++managers;
        held += Resources::FromProto(lease.resources());
      }
    }
    const bool is_first = managers == 0;
    if (!is_first && !held.FitsIn(ManagersPart(Resources::FromProto(entry.node.capacity())))) {
      continue;
    }
    const std::tuple<int, int64_t> rank(managers, -free->memory_bytes());
    if (!best.has_value() || rank < best_rank) {
      best = name;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace houtu::master
