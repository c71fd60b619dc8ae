#include "master/allocator/psdsf/max_min.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "master/allocator/psdsf/level_program.h"
#include "master/allocator/psdsf/server_groups.h"

namespace houtu::psdsf {
namespace {

/// A level whose dual is larger cannot rise in any solution (strictly: any dual above 0). The
/// duals of the levels that hold the lowest one down add up to 1.
constexpr double kHeldDown = 1e-9;

/// Levels nearer than this, relatively, are equal.
constexpr double kEqual = 1e-12;

absl::Status RefuseConstraints(const Instance& instance) {
  for (int n = 0; n < instance.user_count(); ++n) {
    for (int i = 0; i < instance.server_count(); ++i) {
      if (Gamma(instance, n, i) == 0) {
        return Error(absl::StatusCode::kFailedPrecondition,
                     "user {} cannot run on server {}: the policy knows no placement constraints",
                     n, i);
      }
    }
  }
  return absl::OkStatus();
}

/// Tasks of the user at level 1. Not finite or 0: it can run nowhere.
double TasksAtLevelOne(const Instance& instance, MaxMinPolicy policy, int user) {
  const User& of = instance.users[user];
  if (policy == MaxMinPolicy::kDrfh || policy == MaxMinPolicy::kConstrainedDrfh) {
    return of.weight * TasksThatFill(TotalCapacity(instance), of.demand);
  }
  double tasks = 0;
  for (const Server& server : instance.servers) {
    tasks += TasksThatFill(server.capacity, of.demand);
  }
  return of.weight * tasks;
}

/// GLPK takes a capacity exceeded by a hair for kept; here nothing is.
void TrimToCapacity(const Instance& instance, const ServerGroup& group, std::span<double> tasks) {
  double excess = 1;
  for (int r = 0; r < instance.resources; ++r) {
    double used = 0;
    for (int n = 0; n < instance.user_count(); ++n) {
      used += tasks[n] * instance.users[n].demand[r];
    }
    excess = used > group.capacity[r] ? std::max(excess, used / group.capacity[r]) : excess;
  }
  for (double& amount : tasks) {
    amount /= excess;
  }
}

/// Progressive filling: the lowest level is raised as far as it goes; users that hold it there are
/// settled, the others rise on.
class Filling {
 public:
  Filling(const Instance& instance, const std::vector<ServerGroup>& groups,
          std::vector<double> unit)
      : unit_(std::move(unit)), program_(instance, groups, unit_) {
    for (int n = 0; n < instance.user_count(); ++n) {
      const bool able = std::any_of(groups.begin(), groups.end(),
                                    [n](const ServerGroup& g) { return g.gamma[n] > 0; });
      cap_.push_back(able ? instance.users[n].cap / unit_[n] : 0);
      if (able) {
        rising_.push_back(n);
      } else {
        program_.Settle(n, 0);
      }
    }
  }

  absl::StatusOr<std::vector<double>> Run() {
    while (!rising_.empty()) {
      double cap = std::numeric_limits<double>::infinity();
      for (const int n : rising_) {
        cap = std::min(cap, cap_[n]);
      }
      HOUTU_ASSIGN_OR_RETURN(const double level, program_.Raise(cap));
      SettleAt(level);
    }
    // Once more: the last solution may give someone at its cap more than that.
    HOUTU_RETURN_IF_ERROR(program_.Raise(0).status());
    return program_.Tasks();
  }

 private:
  void SettleAt(double level) {
    const int most_held = *std::max_element(rising_.begin(), rising_.end(), [&](int a, int b) {
      return program_.Dual(a) < program_.Dual(b);
    });
    std::vector<int> settled;
    for (const int n : rising_) {
      if (cap_[n] <= level * (1 + kEqual) || program_.Dual(n) > kHeldDown) {
        settled.push_back(n);
      }
    }
    if (settled.empty()) {
      settled.push_back(most_held);
    }
    for (const int n : settled) {
      program_.Settle(n, std::min(level, cap_[n]));
      std::erase(rising_, n);
    }
  }

  std::vector<double> unit_;
  LevelProgram program_;
  /// As levels.
  std::vector<double> cap_;
  std::vector<int> rising_;
};

}  // namespace

absl::StatusOr<Allocation> MaxMinAllocation(const Instance& instance, MaxMinPolicy policy) {
  HOUTU_RETURN_IF_ERROR(Validate(instance));
  if (policy == MaxMinPolicy::kDrfh || policy == MaxMinPolicy::kCdrf) {
    HOUTU_RETURN_IF_ERROR(RefuseConstraints(instance));
  }
  std::vector<double> unit;
  for (int n = 0; n < instance.user_count(); ++n) {
    unit.push_back(TasksAtLevelOne(instance, policy, n));
  }
  const std::vector<ServerGroup> groups = GroupServers(instance, /*merge=*/true);
  HOUTU_ASSIGN_OR_RETURN(std::vector<double> tasks,
                         Filling(instance, groups, std::move(unit)).Run());
  for (size_t g = 0; g < groups.size(); ++g) {
    TrimToCapacity(instance, groups[g],
                   std::span(tasks).subspan(g * instance.users.size(), instance.users.size()));
  }
  return SpreadOverServers(instance, groups, tasks);
}

}  // namespace houtu::psdsf
