// LeaseTable: the containers that this manager holds, what runs in each, and the room left.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/resources.h"
#include "houtu/v1/job_master_service.pb.h"
#include "jobmanager/core/container_shape.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

struct HeldLease {
  std::string id;
  std::string node;
  std::string rack;
  std::string agent_address;
  Resources size;
  Resources free;
  /// What its container runs with. Fixed while tasks run in it.
  ContainerSystem system;
  std::map<AttemptRef, Resources> running;
  /// When the last task left it, or it was granted.
  absl::Time idle_since;
  /// No starts before this: it refused one.
  absl::Time paused_until = absl::InfinitePast();
  int refusals = 0;
  /// A task was started in it: its image is good.
  bool proven = false;
  /// Since when the master does not list it; InfiniteFuture: it does.
  absl::Time unlisted_since = absl::InfiniteFuture();

  bool idle() const { return running.empty(); }
};

/// Owner: SubJob. Not thread-safe.
class LeaseTable {
 public:
  /// False: it is known already.
  bool Add(const v1::LeaseGranted& granted, absl::Time now);
  /// The lease is gone; what ran in it.
  std::map<AttemptRef, Resources> Remove(const std::string& lease);

  HeldLease* Find(const std::string& lease);
  const std::map<std::string, HeldLease>& all() const { return leases_; }
  /// What runs in the node's leases.
  std::vector<AttemptRef> RunningOn(const std::string& node) const;
  /// Whether a lease is held on the node.
  bool OnNode(const std::string& node) const { return by_node_.contains(node); }
  /// The nodes of the rack on which leases are or were held; their order is that of their names.
  const std::set<std::string>& RackNodes(const std::string& rack) const;

  /// Precondition: the lease is held. An adopted attempt may need more than is free; then free is
  /// 0.
  void Occupy(const std::string& lease, const AttemptRef& attempt, const ContainerShape& shape);
  /// Nothing happens if the attempt does not run there.
  void Vacate(const std::string& lease, const AttemptRef& attempt, absl::Time now);

 private:
  std::map<std::string, HeldLease> leases_;
  std::map<std::string, std::set<std::string>> by_node_;
  std::map<std::string, std::set<std::string>> racks_;
};

}  // namespace houtu::jobmanager
