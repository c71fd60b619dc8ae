// What holds of PS-DSF for any instance.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "master/allocator/psdsf/solver.h"
#include "master/allocator/psdsf/theorem1.h"
#include "tests/master/allocator/psdsf/instances.h"
#include "tests/master/allocator/psdsf/reference.h"

namespace houtu::psdsf {
namespace {

bool Near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](double x, double y) {
    return std::abs(x - y) <= tolerance * std::max({1.0, x, y});
  });
}

/// Converges, and passes Theorem 1's conditions.
Allocation Solved(const Instance& instance, const SolverOptions& options) {
  Solver solver = *Solver::Create(instance, options);
  const absl::Status status = solver.Solve();
  RC_ASSERT(status.ok());
  const auto violation = FindViolation(instance, solver.allocation(), options.mode);
  RC_LOG() << violation.value_or("");
  RC_ASSERT(!violation.has_value());
  return solver.allocation();
}

TEST(PsdsfPropertyTest, WhatTheSolverFindsMeetsTheorem1) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({.caps = *rc::gen::arbitrary<bool>()});
    Solved(instance, {.mode = AnyMode(), .merge_identical = *rc::gen::arbitrary<bool>()});
  }));
}

TEST(PsdsfPropertyTest, FindsByTimeWhatThePrintedAlgorithmFinds) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({});
    const std::optional<Allocation> printed = PrintedAlgorithm(instance, Mode::kTdm);
    RC_ASSERT(printed.has_value());
    const Allocation found = Solved(instance, {.mode = Mode::kTdm, .epsilon = 1e-11});
    RC_ASSERT(Near(found.Totals(), printed->Totals(), 1e-7));
  }));
}

TEST(PsdsfPropertyTest, ThePrintedAlgorithmByResourcesMeetsTheorem1Too) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({});
    const std::optional<Allocation> printed = PrintedAlgorithm(instance, Mode::kRdm);
    RC_PRE(printed.has_value());  // where its servers undo each other's work for ever
    const auto violation = FindViolation(instance, *printed, Mode::kRdm);
    RC_LOG() << violation.value_or("");
    RC_ASSERT(!violation.has_value());
  }));
}

// Without caps: a capped user may be served by one server or by another, and what it takes from
// others differs.
TEST(PsdsfPropertyTest, TotalsByTimeDependNeitherOnTheOrderNorOnTheStart) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({});
    const SolverOptions options{.mode = Mode::kTdm, .epsilon = 1e-11};
    const Allocation once = Solved(instance, options);
    SolverOptions other = options;
    other.order = Order::kShuffled;
    other.seed = *rc::gen::arbitrary<uint64_t>();
    RC_ASSERT(Near(once.Totals(), Solved(instance, other).Totals(), 1e-7));
  }));
}

TEST(PsdsfPropertyTest, AfterAChangeItFindsWhatMeetsTheorem1) {
  EXPECT_TRUE(rc::check([] {
    const Mode mode = AnyMode();
    Instance instance = AnyInstance({});
    Solver solver = *Solver::Create(instance, {.mode = mode});
    RC_ASSERT(solver.Solve().ok());
    const int n = *rc::gen::inRange(0, instance.user_count());
    User user = instance.users[n];
    user.weight = *rc::gen::inRange(1, 5);
    user.cap = *rc::gen::inRange(0, 9);
    user.demand[0] += *rc::gen::inRange(0, 3);
    if (*rc::gen::arbitrary<bool>()) {
      user.eligible[0] = !user.eligible[0];
    }
    RC_ASSERT(solver.SetUser(n, user).ok());
    RC_ASSERT(solver.Solve().ok());
    RC_ASSERT(!FindViolation(solver.instance(), solver.allocation(), mode).has_value());
  }));
}

TEST(PsdsfPropertyTest, EqualUsersGetEquallyMuchOnEveryServer) {
  EXPECT_TRUE(rc::check([] {
    Instance instance = AnyInstance({.caps = *rc::gen::arbitrary<bool>()});
    instance.users.push_back(instance.users.front());
    const Allocation x = Solved(instance, {.mode = AnyMode()});
    for (int i = 0; i < instance.server_count(); ++i) {
      RC_ASSERT(x.At(0, i) == x.At(instance.user_count() - 1, i));
    }
  }));
}

TEST(PsdsfPropertyTest, EqualServersServeEqually) {
  EXPECT_TRUE(rc::check([] {
    Instance instance = AnyInstance({.constraints = false});
    instance.servers.push_back(instance.servers.front());
    const Allocation x = Solved(instance, {.mode = AnyMode()});
    for (int n = 0; n < instance.user_count(); ++n) {
      RC_ASSERT(x.At(n, 0) == x.At(n, instance.server_count() - 1));
    }
  }));
}

TEST(PsdsfPropertyTest, TheSameInputGivesTheSameBits) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({.caps = true});
    const SolverOptions options{.mode = AnyMode(), .order = Order::kShuffled, .seed = 7};
    RC_ASSERT(Solved(instance, options) == Solved(instance, options));
  }));
}

}  // namespace
}  // namespace houtu::psdsf
