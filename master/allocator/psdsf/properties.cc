#include "master/allocator/psdsf/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "master/allocator/psdsf/theorem1.h"

namespace houtu::psdsf {
namespace {

/// Ratios nearer than this are the same dominant share.
constexpr double kEqual = 1e-12;

/// Tasks that `user` could run with what `other` has on the server.
double TasksWithWhatIsOf(const Instance& instance, const Allocation& allocation, Mode mode,
                         int user, int other, int server) {
  const double tasks = allocation.At(other, server);
  const double gamma = Gamma(instance, user, server);
  if (tasks == 0 || gamma == 0) {
    return 0;
  }
  if (mode == Mode::kTdm) {
    return tasks / Gamma(instance, other, server) * gamma;
  }
  std::vector<double> has = instance.users[other].demand;
  for (double& amount : has) {
    amount *= tasks;
  }
  return TasksThatFill(has, instance.users[user].demand);
}

bool IsDominantEverywhere(const Instance& instance, int resource) {
  for (int n = 0; n < instance.user_count(); ++n) {
    for (int i = 0; i < instance.server_count(); ++i) {
      const double gamma = Gamma(instance, n, i);
      const double demand = instance.users[n].demand[resource];
      const double capacity = instance.servers[i].capacity[resource];
      if (gamma > 0 && (demand == 0 || capacity / demand > gamma * (1 + kEqual))) {
        return false;
      }
    }
  }
  return true;
}

/// The same cluster as if there were only that resource.
Instance OnlyResource(const Instance& instance, int resource) {
  Instance only{.resources = 1};
  for (const Server& server : instance.servers) {
    only.servers.push_back({.capacity = {server.capacity[resource]}});
  }
  for (int n = 0; n < instance.user_count(); ++n) {
    User user = instance.users[n];
    user.demand = {user.demand[resource]};
    user.eligible.clear();
    for (int i = 0; i < instance.server_count(); ++i) {
      user.eligible.push_back(Gamma(instance, n, i) > 0);
    }
    only.users.push_back(user);
  }
  return only;
}

}  // namespace

std::optional<std::string> FindWorseThanUniform(const Instance& instance,
                                                const Allocation& allocation, double slack) {
  double weights = 0;
  for (const User& user : instance.users) {
    weights += user.weight;
  }
  const std::vector<double> totals = allocation.Totals();
  for (int n = 0; n < instance.user_count(); ++n) {
    double alone = 0;
    for (int i = 0; i < instance.server_count(); ++i) {
      alone += Gamma(instance, n, i);
    }
    const User& user = instance.users[n];
    const double uniform = std::min(user.cap, user.weight / weights * alone);
    if (totals[n] < uniform * (1 - slack)) {
      return fmt::format("user {} runs {} tasks; by an equal part of each server it would run {}",
                         n, totals[n], uniform);
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindEnvy(const Instance& instance, const Allocation& allocation,
                                    Mode mode, double slack) {
  const std::vector<double> totals = allocation.Totals();
  for (int n = 0; n < instance.user_count(); ++n) {
    for (int m = 0; m < instance.user_count(); ++m) {
      double tasks = 0;
      for (int i = 0; i < instance.server_count(); ++i) {
        tasks += TasksWithWhatIsOf(instance, allocation, mode, n, m, i);
      }
      const User& user = instance.users[n];
      tasks = std::min(user.cap, tasks * user.weight / instance.users[m].weight);
      if (tasks * (1 - slack) > totals[n]) {
        return fmt::format("user {} runs {} tasks; with what user {} has it would run {}", n,
                           totals[n], m, tasks);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindBottleneckUnfairness(const Instance& instance,
                                                    const Allocation& allocation) {
  for (int r = 0; r < instance.resources; ++r) {
    if (!IsDominantEverywhere(instance, r)) {
      continue;
    }
    // With one resource, Theorem 1's condition is that of max-min fairness.
    Instance only = OnlyResource(instance, r);
    const bool all_need_it = std::all_of(only.users.begin(), only.users.end(),
                                         [](const User& user) { return user.demand[0] > 0; });
    if (!all_need_it) {
      continue;  // someone can run nowhere, so anything is dominant for it
    }
    if (const auto unfair = FindViolation(only, allocation, Mode::kRdm)) {
      return fmt::format("resource {} is everybody's bottleneck; {}", r, *unfair);
    }
  }
  return std::nullopt;
}

}  // namespace houtu::psdsf
