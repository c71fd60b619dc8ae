#include "tests/master/allocator/psdsf/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace houtu::psdsf {
namespace {

constexpr int kPasses = 20'000;
constexpr int kUpdatesPerServer = 20'000;
constexpr double kSettled = 1e-12;
/// Levels and amounts nearer than this, relatively, are equal.
constexpr double kEqual = 1e-11;

class PrintedServer {
 public:
  PrintedServer(const Instance& instance, Mode mode, int server, Allocation* x)
      : instance_(instance), server_(server), x_(*x) {
    for (int n = 0; n < instance.user_count(); ++n) {
      gamma_.push_back(Gamma(instance, n, server));
      uses_.push_back(mode == Mode::kTdm ? std::vector<double>{1 / gamma_.back()}
                                         : instance.users[n].demand);
      if (gamma_.back() > 0) {
        able_.insert(n);
      }
    }
    capacity_ = mode == Mode::kTdm ? std::vector<double>{1} : instance.servers[server].capacity;
  }

  /// The inner while loop of Algorithm I.
  void Procedure() {
    std::set<int> users = able_;
    for (int step = 0; !users.empty() && step < kUpdatesPerServer; ++step) {
      const double lowest = Lowest(users);
      std::set<int> at_lowest;
      for (const int n : users) {
        if (Level(n) <= lowest * (1 + kEqual)) {
          at_lowest.insert(n);
        }
      }
      const std::vector<int> saturated = SaturatedFor(at_lowest);
      if (const std::optional<int> bottleneck = BottleneckAmong(saturated, lowest)) {
        std::erase_if(users, [&](int n) { return uses_[n][*bottleneck] > 0; });
        continue;
      }
      Update(saturated, at_lowest, users, lowest);
      users = able_;
    }
  }

 private:
  double Slope(int n) const { return instance_.users[n].weight * gamma_[n]; }
  double Level(int n) const {
    double total = 0;
    for (int i = 0; i < instance_.server_count(); ++i) {
      total += x_.At(n, i);
    }
    return total / Slope(n);
  }
  double Lowest(const std::set<int>& users) const {
    double lowest = std::numeric_limits<double>::infinity();
    for (const int n : users) {
      lowest = std::min(lowest, Level(n));
    }
    return lowest;
  }
  double Free(int r) const {
    double free = capacity_[r];
    for (const int n : able_) {
      free -= x_.At(n, server_) * uses_[n][r];
    }
    return free;
  }
  bool Holds(int n, int r) const {
    return uses_[n][r] > 0 && x_.At(n, server_) > kEqual * gamma_[n];
  }

  std::vector<int> SaturatedFor(const std::set<int>& at_lowest) const {
    std::vector<int> saturated;
    for (int r = 0; r < static_cast<int>(capacity_.size()); ++r) {
      const bool needed =
          std::any_of(at_lowest.begin(), at_lowest.end(), [&](int n) { return uses_[n][r] > 0; });
      if (needed && Free(r) <= kEqual * capacity_[r]) {
        saturated.push_back(r);
      }
    }
    return saturated;
  }

  /// n_r: the one with the highest level of those who hold some.
  std::optional<int> HighestHolder(int r) const {
    std::optional<int> highest;
    for (const int n : able_) {
      if (Holds(n, r) && (!highest.has_value() || Level(n) > Level(*highest))) {
        highest = n;
      }
    }
    return highest;
  }

  /// Corollary 1.
  std::optional<int> BottleneckAmong(const std::vector<int>& saturated, double lowest) const {
    for (const int r : saturated) {
      const std::optional<int> holder = HighestHolder(r);
      if (!holder.has_value() || Level(*holder) <= lowest * (1 + 10 * kEqual)) {
        return r;
      }
    }
    return std::nullopt;
  }

  /// Algorithm II.
  void Update(const std::vector<int>& saturated, const std::set<int>& at_lowest,
              const std::set<int>& users, double lowest) {
    std::set<int> released;
    for (const int r : saturated) {
      released.insert(*HighestHolder(r));
    }
    double rise = std::numeric_limits<double>::infinity();  // z*
    for (int r = 0; r < static_cast<int>(capacity_.size()); ++r) {
      double room = std::max(0.0, Free(r));
      double need = 0;
      for (const int m : released) {
        room += x_.At(m, server_) * uses_[m][r];
      }
      for (const int n : at_lowest) {
        need += Slope(n) * uses_[n][r];
      }
      rise = need > 0 ? std::min(rise, room / need) : rise;
    }
    double part = 1;  // beta
    for (const int m : released) {
      part = std::min(part, (Level(m) - lowest) / (rise + x_.At(m, server_) / Slope(m)));
    }
    for (const int n : users) {
      if (!at_lowest.contains(n)) {
        part = std::min(part, (Level(n) - lowest) / rise);
      }
    }
    for (const int n : at_lowest) {
      x_.At(n, server_) += part * rise * Slope(n);
    }
    for (const int m : released) {
      x_.At(m, server_) *= 1 - part;
    }
  }

  const Instance& instance_;
  int server_;
  Allocation& x_;
  std::vector<double> gamma_;
  std::vector<std::vector<double>> uses_;
  std::vector<double> capacity_;
  std::set<int> able_;
};

}  // namespace

std::optional<Allocation> PrintedAlgorithm(const Instance& instance, Mode mode) {
  Allocation x(instance.user_count(), instance.server_count());
  for (int pass = 0; pass < kPasses; ++pass) {
    const Allocation before = x;
    for (int i = 0; i < instance.server_count(); ++i) {
      PrintedServer(instance, mode, i, &x).Procedure();
    }
    double change = 0;
    for (int i = 0; i < instance.server_count(); ++i) {
      for (int n = 0; n < instance.user_count(); ++n) {
        const double gamma = Gamma(instance, n, i);
        change = std::max(change, gamma > 0 ? std::abs(x.At(n, i) - before.At(n, i)) / gamma : 0);
      }
    }
    if (change <= kSettled) {
      return x;
    }
  }
  return std::nullopt;
}

}  // namespace houtu::psdsf
