// The fair policy, as Houtu's paper assumes it of a datacenter's scheduler (part 1.4 of its model):
// a free container goes to the unsatisfied job that holds the smallest share. Share: the largest,
// over the kinds of resources, of what the job's leases hold of the datacenter's capacity (its
// dominant share). Ties go to the job that was submitted first. A job whose containers fit nowhere
// just now does not keep others waiting (C20).
//
// Placement: a node where the job's data lies and where it has fewer containers than it wants
// there, then a node in the same rack as one of those, then any; among equals the node with the
// most room, then by name.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "master/allocator/allocator.h"
#include "master/allocator/node_room.h"

namespace houtu::master {

class FairAllocator final : public Allocator {
 public:
  void Apply(const Change& change) override;
  Plan Decide(absl::Time now) override;
  std::optional<Resources> Free(const std::string& node) const override;

 private:
  struct Demand {
    int wanted = 0;
    int held = 0;
    std::map<std::string, int> preferred;
    std::map<std::string, int> held_on;
    int Missing() const { return wanted - held; }
  };
  struct Job {
    int64_t order = 0;
    /// False once it was removed while it still held leases.
    bool active = true;
    Resources holds;
    std::map<Shape, Demand> demands;
  };
  class Round;

  void OnJobAdded(const JobAdded& change);
  void OnJobRemoved(const JobRemoved& change);
  void OnDemand(const DemandChanged& change);
  void OnLeaseStarted(const LeaseStarted& change);
  void OnLeaseEnded(const LeaseEnded& change);
  void ForgetIfUnused(const std::string& job);

  NodeRoom room_;
  std::map<std::string, Job> jobs_;
};

}  // namespace houtu::master
