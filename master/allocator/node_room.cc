#include "master/allocator/node_room.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"

namespace houtu::master {

void NodeRoom::Apply(const NodeUp& change) {
  NodeEntry& node = nodes_[change.node];
  if (node.up) {
    capacity_up_ -= node.capacity;
  }
  node.rack = change.rack;
  node.capacity = change.capacity;
  node.up = true;
  capacity_up_ += node.capacity;
}

void NodeRoom::Apply(const NodeDown& change) {
  const auto it = nodes_.find(change.node);
  if (it == nodes_.end() || !it->second.up) {
    return;
  }
  it->second.up = false;
  capacity_up_ -= it->second.capacity;
  ForgetIfUnused(change.node);
}

void NodeRoom::Apply(const LeaseStarted& change) {
  const auto node = nodes_.find(change.node);
  HOUTU_CHECK(node != nodes_.end(), "a lease starts on a node that is known: " + change.node);
  const bool is_new =
      leases_
          .emplace(change.lease,
                   LeaseEntry{.job = change.job, .node = change.node, .shape = change.shape})
          .second;
  HOUTU_CHECK(is_new, "a lease starts once: " + change.lease);
  node->second.used += change.shape;
}

NodeRoom::LeaseEntry NodeRoom::Apply(const LeaseEnded& change) {
  const auto it = leases_.find(change.lease);
  HOUTU_CHECK(it != leases_.end(), "a lease that ends had started: " + change.lease);
  LeaseEntry lease = std::move(it->second);
  leases_.erase(it);
  nodes_.at(lease.node).used -= lease.shape;
  ForgetIfUnused(lease.node);
  return lease;
}

void NodeRoom::ForgetIfUnused(const std::string& node) {
  const auto it = nodes_.find(node);
  if (!it->second.up && it->second.used == Resources()) {
    nodes_.erase(it);
  }
}

namespace {

/// The most of each lacking kind that one node has: "4Gi (largest: 1Gi)".
std::string Lack(const Shape& shape, const std::map<std::string, NodeRoom::NodeEntry>& nodes) {
  int64_t cpu = 0;
  int64_t memory = 0;
  std::map<std::string, int64_t> custom;
  for (const auto& [name, node] : nodes) {
    if (!node.up) {
      continue;
    }
    cpu = std::max(cpu, node.capacity.cpu_millis());
    memory = std::max(memory, node.capacity.memory_bytes());
    for (const auto& [kind, amount] : shape.customs()) {
      custom[kind] = std::max(custom[kind], node.capacity.custom(kind));
    }
  }
  if (shape.memory_bytes() > memory) {
    return fmt::format("{} of memory (largest: {})", DescribeBytes(shape.memory_bytes()),
                       DescribeBytes(memory));
  }
  if (shape.cpu_millis() > cpu) {
    return fmt::format("cpu {} (largest: {})", DescribeCpu(shape.cpu_millis()), DescribeCpu(cpu));
  }
  for (const auto& [kind, amount] : shape.customs()) {
    if (amount > custom[kind]) {
      return fmt::format("{} {} (largest: {})", kind, amount, custom[kind]);
    }
  }
  return shape.Describe() + " together";
}

}  // namespace

std::vector<Reason> NodeRoom::WhyNoRoom(const Shape& shape) const {
  const auto ups =
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.second.up; });
  if (ups == 0) {
    return {{.code = "no_ready_node", .message = "no node is ready"}};
  }
  const auto fitting = std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& n) {
    return n.second.up && shape.FitsIn(n.second.capacity);
  });
  if (fitting == 0) {
    return {{.code = "no_node_fits",
             .message = fmt::format("no node can hold {}", Lack(shape, nodes_))}};
  }
  return {{.code = "no_free_capacity",
           .message = fmt::format("{} of {} nodes could hold {}, none has it free now", fitting,
                                  ups, shape.Describe())}};
}

}  // namespace houtu::master
