// NodeRoom: the nodes' free resources and the leases on them, exactly; what every policy needs
// alike.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "master/allocator/allocator.h"

namespace houtu::master {

/// Free + used is the capacity of each node, always.
class NodeRoom {
 public:
  struct NodeEntry {
    std::string rack;
    Resources capacity;
    Resources used;
    /// Takes new leases.
    bool up = false;
    /// What new leases may use: nothing while the leases exceed a capacity that has shrunk.
    Resources Free() const { return used.FitsIn(capacity) ? capacity - used : Resources(); }
  };
  struct LeaseEntry {
    std::optional<std::string> job;
    std::string node;
    Shape shape;
  };

  void Apply(const NodeUp& change);
  void Apply(const NodeDown& change);
  void Apply(const LeaseStarted& change);
  /// The lease as it was.
  LeaseEntry Apply(const LeaseEnded& change);

  const std::map<std::string, NodeEntry>& nodes() const { return nodes_; }
  const std::map<std::string, LeaseEntry>& leases() const { return leases_; }
  /// Capacity of the nodes that are up.
  const Resources& capacity_up() const { return capacity_up_; }

  /// Why a shape has no room now, or never fits.
  std::vector<Reason> WhyNoRoom(const Shape& shape) const;

 private:
  void ForgetIfUnused(const std::string& node);

  std::map<std::string, NodeEntry> nodes_;
  std::map<std::string, LeaseEntry> leases_;
  Resources capacity_up_;
};

}  // namespace houtu::master
