// Allocator: who gets a container on which node. Every policy (fair, later market, psdsf,
// proportional, shapley) stands behind this interface, pure and deterministic: changes in, a plan
// out. MasterCore checks each line of the plan again where it commits it, and tells the allocator
// what became of it by further changes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/resources.h"

namespace houtu::master {

/// A container's shape is its resources: leases of one shape are alike to the job that holds them.
using Shape = Resources;

struct NodeUp {
  std::string node;
  std::string rack;
  /// What leases may use in all.
  Resources capacity;
};

/// The node takes no new leases. Leases that it still holds end by LeaseEnded of their own.
struct NodeDown {
  std::string node;
};

/// A job that may have demands and leases from now on.
struct JobAdded {
  std::string job;
  std::string account;
  /// Submission order: ties go to the smaller one. Unique.
  int64_t order = 0;
  int64_t bid_microcredits = 0;
};

/// The job's demands are void. Its leases end by LeaseEnded of their own.
struct JobRemoved {
  std::string job;
};

/// How many containers of one shape a job wants, those that it holds included; replaces the demand
/// of the same job and shape. 0: none.
struct DemandChanged {
  std::string job;
  Shape shape;
  int containers = 0;
  /// Nodes where its data lies, with the number of containers wanted there.
  std::map<std::string, int> preferred_nodes;
};

/// A grant was committed, or a lease was found again after a failover. Without a job: room taken
/// for something that no policy decides about (a job manager's container).
struct LeaseStarted {
  std::string lease;
  std::optional<std::string> job;
  std::string node;
  Shape shape;
};

struct LeaseEnded {
  std::string lease;
};

using Change =
    std::variant<NodeUp, NodeDown, JobAdded, JobRemoved, DemandChanged, LeaseStarted, LeaseEnded>;

struct Grant {
  std::string job;
  std::string node;
  Shape shape;

  auto operator<=>(const Grant&) const = default;
};

struct Preemption {
  std::string lease;
  std::string reason;
};

/// Why a demand is not met. Each waiting demand has at least one.
struct Reason {
  /// As WaitReason.code.
  std::string code;
  std::string message;

  auto operator<=>(const Reason&) const = default;
};

struct Unserved {
  std::string job;
  Shape shape;
  /// Containers wanted and not held.
  int containers = 0;
  std::vector<Reason> reasons;
};

struct Plan {
  std::vector<Grant> grants;
  std::vector<Preemption> preemptions;
  std::vector<Unserved> unserved;
};

/// Owner: MasterCore. One thread. Reads no clock, file or random source. The same changes in the
/// same order give the same plans.
class Allocator {
 public:
  virtual ~Allocator() = default;

  /// Takes note. A change that contradicts an earlier one (an unknown node, a lease twice) is a
  /// broken invariant.
  virtual void Apply(const Change& change) = 0;

  /// What should be done now. Grants are relative to the changes applied; the caller commits each
  /// or not and applies LeaseStarted for those that it committed before it asks again.
  virtual Plan Decide(absl::Time now) = 0;

  /// What a node has left for leases; empty: no such node takes leases.
  virtual std::optional<Resources> Free(const std::string& node) const = 0;
};

}  // namespace houtu::master
