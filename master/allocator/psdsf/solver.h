// Solver: PS-DSF of divisible tasks: passes over all servers (Sweep) until a whole pass changes
// next to nothing.
//
// One server at a time in a fixed order is what converges best; the other orders and the damping
// are the distributed forms, in which servers act on stale totals. In resource division more than
// one allocation may be PS-DSF, and the order (and where the solver starts from) decides which one
// is found; in time division the totals of all users are unique, unless caps let a user be served
// by one server or another.
//
// Owner: an allocator or an experiment, as long as its instance lives. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/allocator/psdsf/allocation.h"
#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/sweep.h"

namespace houtu::psdsf {

struct SolverOptions {
  Mode mode = Mode::kRdm;
  Order order = Order::kFixed;
  /// The part of the way to the procedure's result that a server goes; in (0, 1].
  double damping = 1;
  /// Converged: in a whole pass the procedure wants to change no user's tasks on a server by more
  /// than this part of gamma (of what it could run there alone).
  double epsilon = 1e-9;
  int max_passes = 10'000;
  /// Rarely (1 in 10,000 small random instances, resource division) servers take turns in undoing
  /// each other's work for ever. After so many passes in which the change has not fallen by a
  /// tenth the damping is halved. 0: never.
  int stalled_passes = 2000;
  /// Passes that the extrapolation between passes remembers (see extrapolation.h). 0: none, as
  /// where each server decides for itself.
  int extrapolation = 10;
  /// Servers that no user can tell apart are computed as one (see server_groups.h).
  bool merge_identical = true;
  /// For Order::kShuffled.
  uint64_t seed = 1;

  /// The paper's distributed form: nobody sees more than the totals.
  static SolverOptions Distributed(Mode mode, Order order, double damping);
};

class Solver {
 public:
  /// INVALID_ARGUMENT: the instance or the options, and what is wrong with them.
  static absl::StatusOr<Solver> Create(Instance instance, const SolverOptions& options);

  /// Where Solve goes on from instead of from nothing. INVALID_ARGUMENT: not of this shape.
  absl::Status StartFrom(const Allocation& allocation);

  /// Replaces one user; the allocation stays as the start of the next Solve. Cheap while the
  /// user's eligibility is as before. INVALID_ARGUMENT: as Create. OUT_OF_RANGE: no such user.
  absl::Status SetUser(int index, User user);

  /// Appends a user, which has nothing yet. INVALID_ARGUMENT: as Create.
  absl::Status AddUser(User user);

  /// RESOURCE_EXHAUSTED: not converged within max_passes. The allocation is feasible all the same,
  /// and another call goes on from it.
  absl::Status Solve();

  const Instance& instance() const { return instance_; }
  Allocation allocation() const {
    return SpreadOverServers(instance_, sweep_.groups(), sweep_.tasks());
  }
  /// x[n].
  std::vector<double> Totals() const { return sweep_.Totals(); }
  /// Of the last Solve.
  int passes() const { return passes_; }
  /// Servers after merging.
  int group_count() const { return static_cast<int>(sweep_.groups().size()); }

 private:
  Solver(Instance instance, const SolverOptions& options);

  bool Iterate(double* change);

  Instance instance_;
  SolverOptions options_;
  Sweep sweep_;
  int passes_ = 0;
};

}  // namespace houtu::psdsf
