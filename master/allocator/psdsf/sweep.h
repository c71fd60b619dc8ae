// Sweep: the state that PS-DSF's servers share, and one pass in which each of them runs the exact
// server procedure (ServerFill) once, knowing no more than its own capacity and the totals of all
// users. One thread.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/server_fill.h"
#include "master/allocator/psdsf/server_groups.h"

namespace houtu::psdsf {

enum class Order {
  /// By their index, each with the totals that the one before it left.
  kFixed,
  /// The same in a new random order every pass.
  kShuffled,
  /// All at once, on the totals that the pass before left.
  kAllAtOnce,
};

class Sweep {
 public:
  Sweep(Mode mode, bool merge_identical) : mode_(mode), merge_identical_(merge_identical) {}

  /// The instance is new, or changed in more than one user: groups the servers anew.
  /// `start` has its shape.
  void Reset(const Instance& instance, const Allocation& start);

  /// That user is new but for its eligibility; its tasks stay where it still has a gamma.
  void UserChanged(const Instance& instance, int user);

  /// Every server goes `damping` of the way to what its procedure says. Returns the largest change
  /// that one of them wanted, as a part of the gamma of the user there.
  double Pass(const Instance& instance, Order order, double damping, std::mt19937_64* random);

  /// [group * users + user]
  const std::vector<double>& tasks() const { return tasks_; }
  void SetTasks(const std::vector<double>& tasks) { tasks_ = tasks; }
  /// 1/gamma in the same shape; 0: not eligible or not able.
  const std::vector<double>& inverse_gamma() const { return inverse_gamma_; }

  const std::vector<ServerGroup>& groups() const { return groups_; }
  std::vector<double> Totals() const;

 private:
  double Update(const Instance& instance, size_t group, std::span<const double> totals,
                double damping);
  void CollectClaims(const Instance& instance, size_t group, std::span<const double> totals);

  Mode mode_;
  bool merge_identical_;
  size_t users_ = 0;
  std::vector<ServerGroup> groups_;
  std::vector<double> tasks_;
  std::vector<double> inverse_gamma_;
  /// x[n] during a pass.
  std::vector<double> totals_;

  // Memory of Update.
  ServerFill fill_;
  std::vector<Claim> claims_;
  std::vector<int> claimants_;
  std::vector<double> filled_;
};

}  // namespace houtu::psdsf
