#include "master/allocator/psdsf/solver.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "common/base/status.h"
#include "master/allocator/psdsf/extrapolation.h"

namespace houtu::psdsf {
namespace {

/// Less is as good as not moving at all.
constexpr double kLeastDamping = 1.0 / 16;

/// With extrapolation or without: where so many passes have not halved the change, the other way.
constexpr int kExtrapolationPasses = 100;

absl::Status ValidateOptions(const SolverOptions& options) {
  if (!(options.damping > 0 && options.damping <= 1)) {
    return Error(absl::StatusCode::kInvalidArgument, "damping is {}, not in (0, 1]",
                 options.damping);
  }
  if (!(options.epsilon > 0)) {
    return Error(absl::StatusCode::kInvalidArgument, "epsilon is {}, not above 0", options.epsilon);
  }
  if (options.max_passes <= 0 || options.stalled_passes < 0 || options.extrapolation < 0) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "max_passes {}, stalled_passes {}, extrapolation {}: the first is above 0, the "
                 "others not below",
                 options.max_passes, options.stalled_passes, options.extrapolation);
  }
  return absl::OkStatus();
}

/// Tells when the change has not fallen below `factor` of what it was for so many passes.
class StallWatch {
 public:
  StallWatch(int passes, double factor) : passes_(passes), factor_(factor) {}

  bool Stalled(double change) {
    if (change < factor_ * best_) {
      best_ = change;
      since_ = 0;
    }
    if (passes_ == 0 || ++since_ < passes_) {
      return false;
    }
    best_ = std::numeric_limits<double>::infinity();
    since_ = 0;
    return true;
  }

 private:
  int passes_;
  double factor_;
  int since_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

SolverOptions SolverOptions::Distributed(Mode mode, Order order, double damping) {
  return {.mode = mode,
          .order = order,
          .damping = damping,
          .stalled_passes = 0,
          .extrapolation = 0,
          .merge_identical = false};
}

absl::StatusOr<Solver> Solver::Create(Instance instance, const SolverOptions& options) {
  HOUTU_RETURN_IF_ERROR(Validate(instance));
  HOUTU_RETURN_IF_ERROR(ValidateOptions(options));
  return Solver(std::move(instance), options);
}

Solver::Solver(Instance instance, const SolverOptions& options)
    : instance_(std::move(instance)),
      options_(options),
      sweep_(options.mode, options.merge_identical) {
  sweep_.Reset(instance_, Allocation(instance_.user_count(), instance_.server_count()));
}

absl::Status Solver::StartFrom(const Allocation& allocation) {
  if (allocation.users() != instance_.user_count() ||
      allocation.servers() != instance_.server_count()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "an allocation of {} users on {} servers; there are {} on {}", allocation.users(),
                 allocation.servers(), instance_.user_count(), instance_.server_count());
  }
  sweep_.Reset(instance_, allocation);
  return absl::OkStatus();
}

absl::Status Solver::SetUser(int index, User user) {
  if (index < 0 || index >= instance_.user_count()) {
    return Error(absl::StatusCode::kOutOfRange, "user {} of {}", index, instance_.user_count());
  }
  HOUTU_RETURN_IF_ERROR(ValidateUser(instance_, index, user));
  if (user.eligible == instance_.users[index].eligible) {
    instance_.users[index] = std::move(user);
    sweep_.UserChanged(instance_, index);
  } else {
    const Allocation start = allocation();
    instance_.users[index] = std::move(user);
    sweep_.Reset(instance_, start);
  }
  return absl::OkStatus();
}

absl::Status Solver::AddUser(User user) {
  HOUTU_RETURN_IF_ERROR(ValidateUser(instance_, instance_.user_count(), user));
  const Allocation before = allocation();
  instance_.users.push_back(std::move(user));
  Allocation start(instance_.user_count(), instance_.server_count());
  for (int i = 0; i < instance_.server_count(); ++i) {
    std::copy_n(before.OnServer(i).begin(), before.users(), start.OnServer(i).begin());
  }
  sweep_.Reset(instance_, start);
  return absl::OkStatus();
}

absl::Status Solver::Solve() {
  double change = 0;
  const bool converged = Iterate(&change);
  // What a damped or extrapolated start led to may exceed a capacity by a hair; what the
  // procedure itself gives, one server after the other, does not.
  sweep_.Pass(instance_, Order::kFixed, 1, nullptr);
  if (converged) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kResourceExhausted,
               "not converged within max_passes = {}: the last pass still changed {:.3g} of a "
               "server, and epsilon is {:.3g}",
               options_.max_passes, change, options_.epsilon);
}

bool Solver::Iterate(double* change) {
  std::mt19937_64 random(options_.seed);
  auto extrapolation = options_.extrapolation > 0
                           ? std::make_optional<Extrapolation>(options_.extrapolation)
                           : std::nullopt;
  StallWatch extrapolation_watch(kExtrapolationPasses, 0.5);
  StallWatch watch(options_.stalled_passes, 0.9);
  double damping = options_.damping;
  for (passes_ = 1;; ++passes_) {
    const std::vector<double> before = sweep_.tasks();
    *change = sweep_.Pass(instance_, options_.order, damping, &random);
    if (*change <= options_.epsilon || passes_ == options_.max_passes) {
      return *change <= options_.epsilon;
    }
    if (watch.Stalled(*change)) {
      damping = std::max(damping / 2, std::min(damping, kLeastDamping));
    }
    if (options_.extrapolation > 0 && extrapolation_watch.Stalled(*change)) {
      // Turns of the passes alone, which get over what leads the extrapolation astray.
      extrapolation = extrapolation.has_value()
                          ? std::nullopt
                          : std::make_optional<Extrapolation>(options_.extrapolation);
    }
    if (extrapolation.has_value()) {
      sweep_.SetTasks(extrapolation->Next(before, sweep_.tasks(), sweep_.inverse_gamma()));
    }
  }
}

}  // namespace houtu::psdsf
