#include "master/allocator/psdsf/theorem1.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace houtu::psdsf {
namespace {

/// One server as the mode sees it: its resources, or its time alone.
class ServerView {
 public:
  ServerView(const Instance& instance, const Allocation& allocation, Mode mode, int server)
      : instance_(instance), allocation_(allocation), mode_(mode), server_(server) {
    for (int n = 0; n < instance.user_count(); ++n) {
      gamma_.push_back(Gamma(instance, n, server));
    }
  }

  int resources() const { return mode_ == Mode::kTdm ? 1 : instance_.resources; }
  double capacity(int r) const {
    return mode_ == Mode::kTdm ? 1 : instance_.servers[server_].capacity[r];
  }
  double gamma(int user) const { return gamma_[user]; }
  double tasks(int user) const { return allocation_.At(user, server_); }
  /// What a task takes. Precondition: gamma > 0.
  double uses(int user, int r) const {
    return mode_ == Mode::kTdm ? 1 / gamma_[user] : instance_.users[user].demand[r];
  }
  double Used(int r) const {
    double used = 0;
    for (int n = 0; n < instance_.user_count(); ++n) {
      used += gamma_[n] > 0 ? tasks(n) * uses(n, r) : 0;
    }
    return used;
  }
  std::string Name(int r) const {
    return mode_ == Mode::kTdm ? "time" : fmt::format("resource {}", r);
  }

 private:
  const Instance& instance_;
  const Allocation& allocation_;
  Mode mode_;
  int server_;
  std::vector<double> gamma_;
};

std::optional<std::string> FindOverfull(const ServerView& view, int users,
                                        const Tolerance& tolerance) {
  for (int n = 0; n < users; ++n) {
    if (!(view.tasks(n) >= 0)) {
      return fmt::format("user {} has {} tasks", n, view.tasks(n));
    }
    if (view.gamma(n) == 0 && view.tasks(n) > 0) {
      return fmt::format("user {} has {} tasks and cannot run any here", n, view.tasks(n));
    }
  }
  for (int r = 0; r < view.resources(); ++r) {
    const double used = view.Used(r);
    if (used > view.capacity(r) * (1 + tolerance.excess)) {
      return fmt::format("{} of {} is used, of {}", used, view.Name(r), view.capacity(r));
    }
  }
  return std::nullopt;
}

/// The highest level of one who holds some of the resource.
struct Highest {
  double level = 0;
  int user = -1;
};

class BottleneckSearch {
 public:
  BottleneckSearch(const ServerView& view, const Instance& instance,
                   const std::vector<double>& totals, const Tolerance& tolerance)
      : view_(view), instance_(instance), totals_(totals), tolerance_(tolerance) {
    for (int r = 0; r < view.resources(); ++r) {
      full_.push_back(view.Used(r) >= view.capacity(r) * (1 - tolerance.slack));
      highest_.push_back(HighestHolder(r));
    }
  }

  double Level(int user) const {
    return totals_[user] / (instance_.users[user].weight * view_.gamma(user));
  }

  bool HasBottleneck(int user) const {
    for (int r = 0; r < view_.resources(); ++r) {
      if (full_[r] && view_.uses(user, r) > 0 && !IsAbove(highest_[r], user)) {
        return true;
      }
    }
    return false;
  }

  /// Why each resource that the user needs is none.
  std::string Explain(int user) const {
    std::string text = fmt::format("user {} at level {} has no bottleneck", user, Level(user));
    for (int r = 0; r < view_.resources(); ++r) {
      if (!(view_.uses(user, r) > 0)) {
        continue;
      }
      text += full_[r] ? fmt::format("; {} is held by user {} at level {}", view_.Name(r),
                                     highest_[r].user, highest_[r].level)
                       : fmt::format("; {} is not used up: {} of {}", view_.Name(r), view_.Used(r),
                                     view_.capacity(r));
    }
    return text;
  }

 private:
  Highest HighestHolder(int r) const {
    Highest highest;
    for (int n = 0; n < instance_.user_count(); ++n) {
      const bool holds = view_.gamma(n) > 0 && view_.uses(n, r) > 0 &&
                         view_.tasks(n) > tolerance_.slack * view_.gamma(n);
      if (holds && Level(n) > highest.level) {
        highest = {.level = Level(n), .user = n};
      }
    }
    return highest;
  }

  bool IsAbove(const Highest& highest, int user) const {
    return highest.level * (1 - tolerance_.level) > Level(user);
  }

  const ServerView& view_;
  const Instance& instance_;
  const std::vector<double>& totals_;
  const Tolerance& tolerance_;
  std::vector<bool> full_;
  std::vector<Highest> highest_;
};

}  // namespace

std::optional<std::string> FindInfeasibility(const Instance& instance, const Allocation& allocation,
                                             Mode mode, const Tolerance& tolerance) {
  for (int i = 0; i < instance.server_count(); ++i) {
    const ServerView view(instance, allocation, mode, i);
    if (const auto bad = FindOverfull(view, instance.user_count(), tolerance)) {
      return fmt::format("server {}: {}", i, *bad);
    }
  }
  const std::vector<double> totals = allocation.Totals();
  for (int n = 0; n < instance.user_count(); ++n) {
    if (totals[n] > instance.users[n].cap * (1 + tolerance.excess)) {
      return fmt::format("user {} has {} tasks and its cap is {}", n, totals[n],
                         instance.users[n].cap);
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindViolation(const Instance& instance, const Allocation& allocation,
                                         Mode mode, const Tolerance& tolerance) {
  if (auto bad = FindInfeasibility(instance, allocation, mode, tolerance)) {
    return bad;
  }
  const std::vector<double> totals = allocation.Totals();
  for (int i = 0; i < instance.server_count(); ++i) {
    const ServerView view(instance, allocation, mode, i);
    const BottleneckSearch search(view, instance, totals, tolerance);
    for (int n = 0; n < instance.user_count(); ++n) {
      const bool capped = totals[n] >= instance.users[n].cap * (1 - tolerance.slack);
      if (view.gamma(n) > 0 && !capped && !search.HasBottleneck(n)) {
        return fmt::format("server {}: {}", i, search.Explain(n));
      }
    }
  }
  return std::nullopt;
}

}  // namespace houtu::psdsf
