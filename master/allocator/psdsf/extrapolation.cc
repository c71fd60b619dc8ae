#include "master/allocator/psdsf/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace houtu::psdsf {
namespace {

/// A step after which the change is so many times larger led astray.
constexpr double kAstray = 2;

constexpr int kMostCalmNeeded = 1024;

/// Steps whose direction is within this of the others' span add nothing but rounding.
constexpr double kDependent = 1e-13;

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> Minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::minus<>());
  return out;
}

/// Solves matrix * x = right by Cholesky's method; components whose pivot vanishes become 0.
std::vector<double> SolveSymmetric(std::vector<std::vector<double>> matrix,
                                   std::vector<double> right) {
  const size_t size = right.size();
  std::vector<bool> dropped(size, false);
  for (size_t k = 0; k < size; ++k) {
    const double whole = matrix[k][k];
    for (size_t j = 0; j < k; ++j) {
      double sum = matrix[k][j];
      for (size_t m = 0; m < j; ++m) {
        sum -= matrix[k][m] * matrix[j][m];
      }
      matrix[k][j] = dropped[j] ? 0 : sum / matrix[j][j];
    }
    double pivot = whole;
    for (size_t m = 0; m < k; ++m) {
      pivot -= matrix[k][m] * matrix[k][m];
    }
    dropped[k] = !(pivot > kDependent * whole);
    matrix[k][k] = dropped[k] ? 1 : std::sqrt(pivot);
    double sum = right[k];
    for (size_t m = 0; m < k; ++m) {
      sum -= matrix[k][m] * right[m];
    }
    right[k] = dropped[k] ? 0 : sum / matrix[k][k];
  }
  for (size_t k = size; k-- > 0;) {
    for (size_t m = k + 1; m < size; ++m) {
      right[k] -= matrix[m][k] * right[m];
    }
    right[k] = dropped[k] ? 0 : right[k] / matrix[k][k];
  }
  return right;
}

}  // namespace

std::vector<double> Extrapolation::Next(const std::vector<double>& before,
                                        const std::vector<double>& after,
                                        const std::vector<double>& scale) {
  if (memory_ == 0) {
    return after;
  }
  std::vector<double> change = Minus(after, before);
  std::transform(change.begin(), change.end(), scale.begin(), change.begin(), std::multiplies<>());
  const double size = Dot(change, change);
  if (size > kAstray * kAstray * last_size_) {
    const bool proposed = std::exchange(proposed_, false);
    Forget();
    if (proposed) {
      return last_result_;  // as if nothing had been proposed
    }
  }
  ++calm_;
  last_size_ = size;
  Remember(change, after);
  std::vector<double> next = after;
  proposed_ = calm_ >= calm_needed_ && !steps_.empty();
  if (!proposed_) {
    return next;
  }
  const std::vector<double> weights = Weights(change);
  for (size_t k = 0; k < steps_.size(); ++k) {
    for (size_t at = 0; at < next.size(); ++at) {
      next[at] -= weights[k] * steps_[k].result[at];
    }
  }
  for (double& amount : next) {
    amount = std::max(0.0, amount);
  }
  return next;
}

/// What is remembered is of another linear piece. Each time that happens, more passes have to be
/// calm before the next proposal, so that the passes get their way where there are many pieces.
void Extrapolation::Forget() {
  calm_needed_ = std::min(2 * calm_needed_, kMostCalmNeeded);
  calm_ = 0;
  steps_.clear();
  products_.clear();
  last_change_.clear();
}

void Extrapolation::Remember(std::vector<double> change, const std::vector<double>& after) {
  if (!last_change_.empty()) {
    if (steps_.size() == memory_) {
      steps_.pop_front();
      products_.pop_front();
      for (std::deque<double>& row : products_) {
        row.pop_front();
      }
    }
    steps_.push_back({.change = Minus(change, last_change_), .result = Minus(after, last_result_)});
    products_.emplace_back();
    for (const Step& step : steps_) {
      products_.back().push_back(Dot(steps_.back().change, step.change));
    }
  }
  last_change_ = std::move(change);
  last_result_ = after;
}

/// How much of each remembered step to take back so that the least of `change` is left.
std::vector<double> Extrapolation::Weights(const std::vector<double>& change) const {
  const size_t size = steps_.size();
  // Newest first: where steps depend on each other the oldest are dropped.
  std::vector<std::vector<double>> matrix(size, std::vector<double>(size, 0));
  std::vector<double> right(size);
  for (size_t k = 0; k < size; ++k) {
    const size_t of = size - 1 - k;
    right[k] = Dot(steps_[of].change, change);
    for (size_t j = 0; j <= k; ++j) {
      matrix[k][j] = products_[size - 1 - j][of];
    }
  }
  std::vector<double> weights = SolveSymmetric(std::move(matrix), std::move(right));
  std::reverse(weights.begin(), weights.end());
  return weights;
}

}  // namespace houtu::psdsf
