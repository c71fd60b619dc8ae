#include "master/allocator/psdsf/sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace houtu::psdsf {
namespace {

/// A server's time, as time division divides it.
constexpr double kWholeTime[] = {1.0};

/// std::shuffle's result differs between standard libraries.
void Shuffle(std::vector<size_t>* order, std::mt19937_64* random) {
  for (size_t k = order->size(); k > 1; --k) {
    std::swap((*order)[k - 1], (*order)[(*random)() % k]);
  }
}

double Inverse(double gamma) { return gamma > 0 ? 1 / gamma : 0; }

}  // namespace

void Sweep::Reset(const Instance& instance, const Allocation& start) {
  users_ = instance.users.size();
  groups_ = GroupServers(instance, merge_identical_);
  tasks_ = GatherByGroup(groups_, start);
  inverse_gamma_.resize(tasks_.size());
  for (size_t g = 0; g < groups_.size(); ++g) {
    std::transform(groups_[g].gamma.begin(), groups_[g].gamma.end(),
                   inverse_gamma_.begin() + static_cast<ptrdiff_t>(g * users_), Inverse);
  }
}

void Sweep::UserChanged(const Instance& instance, int user) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const double gamma = GroupGamma(instance, groups_[g], user);
    groups_[g].gamma[user] = gamma;
    inverse_gamma_[g * users_ + user] = Inverse(gamma);
    if (gamma == 0) {
      tasks_[g * users_ + user] = 0;
    }
  }
}

double Sweep::Pass(const Instance& instance, Order order, double damping, std::mt19937_64* random) {
  totals_ = Totals();  // anew, so that rounding does not add up over passes
  std::vector<size_t> turns(groups_.size());
  std::iota(turns.begin(), turns.end(), 0);
  if (order == Order::kShuffled) {
    Shuffle(&turns, random);
  }
  const std::vector<double> stale = order == Order::kAllAtOnce ? totals_ : std::vector<double>();
  double change = 0;
  for (const size_t g : turns) {
    change = std::max(change, Update(instance, g, stale.empty() ? totals_ : stale, damping));
  }
  return change;
}

double Sweep::Update(const Instance& instance, size_t group, std::span<const double> totals,
                     double damping) {
  CollectClaims(instance, group, totals);
  filled_.resize(claims_.size());
  fill_.Run(mode_ == Mode::kTdm ? std::span<const double>(kWholeTime)
                                : std::span<const double>(groups_[group].capacity),
            claims_, filled_);
  double change = 0;
  for (size_t k = 0; k < claims_.size(); ++k) {
    const size_t at = group * users_ + claimants_[k];
    const double step = filled_[k] - tasks_[at];
    change = std::max(change, std::abs(step) * inverse_gamma_[at]);
    const double now = damping == 1 ? filled_[k] : tasks_[at] + damping * step;
    totals_[claimants_[k]] += now - tasks_[at];
    tasks_[at] = now;
  }
  return change;
}

void Sweep::CollectClaims(const Instance& instance, size_t group, std::span<const double> totals) {
  claims_.clear();
  claimants_.clear();
  for (size_t n = 0; n < users_; ++n) {
    const size_t at = group * users_ + n;
    if (inverse_gamma_[at] == 0) {
      continue;
    }
    const User& user = instance.users[n];
    const double levels_per_task = inverse_gamma_[at] / user.weight;
    claims_.push_back({.slope = user.weight * groups_[group].gamma[n],
                       .start = std::max(0.0, totals[n] - tasks_[at]) * levels_per_task,
                       .stop = user.cap * levels_per_task,
                       .uses = mode_ == Mode::kTdm ? &inverse_gamma_[at] : user.demand.data()});
    claimants_.push_back(static_cast<int>(n));
  }
}

std::vector<double> Sweep::Totals() const {
  std::vector<double> totals(users_, 0);
  for (size_t at = 0; at < tasks_.size(); at += users_) {
    for (size_t n = 0; n < users_; ++n) {
      totals[n] += tasks_[at + n];
    }
  }
  return totals;
}

}  // namespace houtu::psdsf
