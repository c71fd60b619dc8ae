#include "master/allocator/fair.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "common/base/check.h"

namespace houtu::master {
namespace {

/// The largest part of the total that `holds` is, over the kinds of resources. A score: only
/// compared.
double DominantShare(const Resources& holds, const Resources& total) {
  const auto part = [](int64_t amount, int64_t all) {
    return all <= 0 ? 0.0 : static_cast<double>(amount) / static_cast<double>(all);
  };
  double share = std::max(part(holds.cpu_millis(), total.cpu_millis()),
                          part(holds.memory_bytes(), total.memory_bytes()));
  for (const auto& [kind, amount] : holds.customs()) {
    share = std::max(share, part(amount, total.custom(kind)));
  }
  return share;
}

}  // namespace

/// One Decide: a copy of what changes by the grants of this plan, which are not committed yet.
class FairAllocator::Round {
 public:
  explicit Round(const FairAllocator& allocator) : allocator_(allocator) {
    for (const auto& [name, node] : allocator.room_.nodes()) {
      if (node.up) {
        free_.emplace(name, node.Free());
      }
    }
    for (const auto& [name, job] : allocator.jobs_) {
      const bool unsatisfied = std::any_of(job.demands.begin(), job.demands.end(),
                                           [](const auto& d) { return d.second.Missing() > 0; });
      if (job.active && unsatisfied) {
        holds_.emplace(name, job.holds);
        Enqueue(name);
      }
    }
  }

  Plan Run() {
    Plan plan;
    while (!queue_.empty()) {
      const std::string job = std::get<2>(*queue_.begin());
      queue_.erase(queue_.begin());
      if (GrantOne(job, &plan)) {
        Enqueue(job);
      }
    }
    ListUnserved(&plan);
    return plan;
  }

 private:
  void Enqueue(const std::string& job) {
    queue_.emplace(DominantShare(holds_.at(job), allocator_.room_.capacity_up()),
                   allocator_.jobs_.at(job).order, job);
  }

  int GrantedNow(const std::string& job, const Shape& shape) const {
    const auto it = granted_.find({job, shape});
    return it == granted_.end() ? 0 : it->second;
  }

  /// Grants one container of the first demand that fits somewhere.
  bool GrantOne(const std::string& job, Plan* plan) {
    for (const auto& [shape, demand] : allocator_.jobs_.at(job).demands) {
      if (demand.Missing() - GrantedNow(job, shape) <= 0 || full_for_.contains(shape)) {
        continue;
      }
      const std::optional<std::string> node = ChooseNode(job, shape, demand);
      if (!node.has_value()) {
        full_for_.insert(shape);
        continue;
      }
      free_.at(*node) -= shape;
      holds_.at(job) += shape;
      ++granted_[{job, shape}];
      ++granted_on_[{job, shape, *node}];
      plan->grants.push_back({.job = job, .node = *node, .shape = shape});
      return true;
    }
    return false;
  }

  std::optional<std::string> ChooseNode(const std::string& job, const Shape& shape,
                                        const Demand& demand) const {
    std::set<std::string> racks;
    for (const auto& [name, wanted] : demand.preferred) {
      if (const auto it = allocator_.room_.nodes().find(name);
          it != allocator_.room_.nodes().end()) {
        racks.insert(it->second.rack);
      }
    }
    std::optional<std::string> best;
    std::tuple<int, double> best_rank;
    for (const auto& [name, free] : free_) {
      if (!shape.FitsIn(free)) {
        continue;
      }
      const NodeRoom::NodeEntry& node = allocator_.room_.nodes().at(name);
      const int distance = IsPreferred(job, shape, demand, name) ? 0
                           : racks.contains(node.rack)           ? 1
                                                                 : 2;
      const std::tuple<int, double> rank(distance,
                                         DominantShare(node.capacity - free, node.capacity));
      if (!best.has_value() || rank < best_rank) {
        best = name;
        best_rank = rank;
      }
    }
    return best;
  }

  bool IsPreferred(const std::string& job, const Shape& shape, const Demand& demand,
                   const std::string& node) const {
    const auto wanted = demand.preferred.find(node);
    if (wanted == demand.preferred.end()) {
      return false;
    }
    const auto held = demand.held_on.find(node);
    const auto now = granted_on_.find({job, shape, node});
    return wanted->second > (held == demand.held_on.end() ? 0 : held->second) +
                                (now == granted_on_.end() ? 0 : now->second);
  }

  void ListUnserved(Plan* plan) const {
    for (const auto& [name, holds] : holds_) {
      for (const auto& [shape, demand] : allocator_.jobs_.at(name).demands) {
        const int missing = demand.Missing() - GrantedNow(name, shape);
        if (missing > 0) {
          plan->unserved.push_back({.job = name,
                                    .shape = shape,
                                    .containers = missing,
                                    .reasons = allocator_.room_.WhyNoRoom(shape)});
        }
      }
    }
  }

  const FairAllocator& allocator_;
  std::map<std::string, Resources> free_;
  std::map<std::string, Resources> holds_;
  std::map<std::pair<std::string, Shape>, int> granted_;
  std::map<std::tuple<std::string, Shape, std::string>, int> granted_on_;
  /// Shapes that no node has room for: room only shrinks within a round.
  std::set<Shape> full_for_;
  /// Unsatisfied jobs by share, then submission.
  std::set<std::tuple<double, int64_t, std::string>> queue_;
};

void FairAllocator::Apply(const Change& change) {
  struct Visitor {
    FairAllocator* self;
    void operator()(const NodeUp& c) { self->room_.Apply(c); }
    void operator()(const NodeDown& c) { self->room_.Apply(c); }
    void operator()(const JobAdded& c) { self->OnJobAdded(c); }
    void operator()(const JobRemoved& c) { self->OnJobRemoved(c); }
    void operator()(const DemandChanged& c) { self->OnDemand(c); }
    void operator()(const LeaseStarted& c) { self->OnLeaseStarted(c); }
    void operator()(const LeaseEnded& c) { self->OnLeaseEnded(c); }
  };
  std::visit(Visitor{this}, change);
}

void FairAllocator::OnJobAdded(const JobAdded& change) {
  Job& job = jobs_[change.job];
  job.order = change.order;
  job.active = true;
}

void FairAllocator::OnJobRemoved(const JobRemoved& change) {
  const auto it = jobs_.find(change.job);
  if (it == jobs_.end()) {
    return;
  }
  it->second.active = false;
  for (auto& [shape, demand] : it->second.demands) {
    demand.wanted = 0;
    demand.preferred.clear();
  }
  ForgetIfUnused(change.job);
}

void FairAllocator::OnDemand(const DemandChanged& change) {
  const auto it = jobs_.find(change.job);
  HOUTU_CHECK(it != jobs_.end() && it->second.active, "a demand is of a job: " + change.job);
  Demand& demand = it->second.demands[change.shape];
  demand.wanted = change.containers;
  demand.preferred = change.preferred_nodes;
  if (demand.wanted == 0 && demand.held == 0) {
    it->second.demands.erase(change.shape);
  }
}

void FairAllocator::OnLeaseStarted(const LeaseStarted& change) {
  room_.Apply(change);
  if (!change.job.has_value()) {
    return;
  }
  const auto it = jobs_.find(*change.job);
  HOUTU_CHECK(it != jobs_.end(), "a lease is of a job: " + *change.job);
  it->second.holds += change.shape;
  Demand& demand = it->second.demands[change.shape];
  ++demand.held;
  ++demand.held_on[change.node];
}

void FairAllocator::OnLeaseEnded(const LeaseEnded& change) {
  const NodeRoom::LeaseEntry lease = room_.Apply(change);
  if (!lease.job.has_value()) {
    return;
  }
  Job& job = jobs_.at(*lease.job);
  job.holds -= lease.shape;
  Demand& demand = job.demands.at(lease.shape);
  --demand.held;
  if (--demand.held_on[lease.node] == 0) {
    demand.held_on.erase(lease.node);
  }
  if (demand.wanted == 0 && demand.held == 0) {
    job.demands.erase(lease.shape);
  }
  ForgetIfUnused(*lease.job);
}

void FairAllocator::ForgetIfUnused(const std::string& job) {
  const auto it = jobs_.find(job);
  if (!it->second.active && it->second.holds == Resources() && it->second.demands.empty()) {
    jobs_.erase(it);
  }
}

Plan FairAllocator::Decide(absl::Time /*now*/) { return Round(*this).Run(); }

std::optional<Resources> FairAllocator::Free(const std::string& node) const {
  const auto it = room_.nodes().find(node);
  if (it == room_.nodes().end() || !it->second.up) {
    return std::nullopt;
  }
  return it->second.Free();
}

}  // namespace houtu::master
