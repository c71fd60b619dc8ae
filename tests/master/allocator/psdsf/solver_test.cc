#include "master/allocator/psdsf/solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "master/allocator/psdsf/theorem1.h"
#include "tests/master/allocator/psdsf/instances.h"

namespace houtu::psdsf {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

MATCHER_P(NearTo, tolerance, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

/// Solves, and sees to it that the result is PS-DSF.
Allocation Solved(const Instance& instance, const SolverOptions& options) {
  absl::StatusOr<Solver> solver = Solver::Create(instance, options);
  EXPECT_TRUE(solver.ok()) << solver.status();
  const absl::Status status = solver->Solve();
  EXPECT_TRUE(status.ok()) << status;
  const auto violation = FindViolation(instance, solver->allocation(), options.mode);
  EXPECT_EQ(violation, std::nullopt) << *violation;
  return solver->allocation();
}

void ExpectTotals(const Allocation& allocation, const std::vector<double>& totals) {
  EXPECT_THAT(allocation.Totals(), Pointwise(NearTo(1e-8), totals));
}

TEST(PsdsfExampleTest, SharesTheBottleneckByWeightInFigure1) {
  ExpectTotals(Solved(Figure1(), {.mode = Mode::kRdm}), {3, 3, 6});
  ExpectTotals(Solved(Figure1(), {.mode = Mode::kTdm}), {3, 3, 6});
}

TEST(PsdsfExampleTest, ServesFigure2ByResourcesAsPrinted) {
  const Allocation x = Solved(Figure2(), {.mode = Mode::kRdm});
  ExpectTotals(x, {3.6, 3.6, 8, 8});
  EXPECT_THAT(x.At(2, 0), DoubleNear(0, 1e-9)) << "users 3 and 4 only on the second server";
  EXPECT_THAT(x.At(3, 0), DoubleNear(0, 1e-9));
}

TEST(PsdsfExampleTest, ServesFigure2ByTime) {
  ExpectTotals(Solved(Figure2(), {.mode = Mode::kTdm}), {3, 3, 6, 6});
}

TEST(PsdsfExampleTest, GivesToOthersWhatACapLeaves) {
  Instance instance = Figure2();
  instance.users[0].cap = 2;
  ExpectTotals(Solved(instance, {}), {2, 4.25, 8.5, 8.5});
  instance.users[0].cap = 1;
  instance.users[1].cap = 1;
  ExpectTotals(Solved(instance, {}), {1, 1, 11, 11});
}

TEST(PsdsfExampleTest, IsDrfOnOneServer) {
  const Instance instance{.resources = 2,
                          .servers = {{.capacity = {9, 18}}},
                          .users = {{.demand = {1, 4}}, {.demand = {3, 1}}}};
  ExpectTotals(Solved(instance, {}), {3, 2});
}

TEST(PsdsfExampleTest, IsMaxMinFairForOneResource) {
  const Instance instance{.resources = 1,
                          .servers = {{.capacity = {10}}, {.capacity = {20}}},
                          .users = {{.demand = {1}, .eligible = {true, false}},
                                    {.demand = {1}},
                                    {.demand = {1}, .weight = 2}}};
  ExpectTotals(Solved(instance, {}), {7.5, 7.5, 15});
}

TEST(SolverTest, FindsTheSameInEveryOrderAndByDampedSteps) {
  for (const Order order : {Order::kFixed, Order::kShuffled, Order::kAllAtOnce}) {
    for (const double damping : {1.0, 0.5, 0.25}) {
      SolverOptions options = SolverOptions::Distributed(Mode::kRdm, order, damping);
      options.epsilon = 1e-11;
      ExpectTotals(Solved(Figure2(), options), {3.6, 3.6, 8, 8});
    }
  }
}

TEST(SolverTest, GoesOnFromWhatWasAfterAChange) {
  Solver solver = *Solver::Create(Figure2(), {});
  ASSERT_TRUE(solver.Solve().ok());
  User capped = solver.instance().users[0];
  capped.cap = 2;
  ASSERT_TRUE(solver.SetUser(0, capped).ok());
  ASSERT_TRUE(solver.Solve().ok());
  ExpectTotals(solver.allocation(), {2, 4.25, 8.5, 8.5});
  ASSERT_TRUE(solver.SetUser(0, Figure2().users[0]).ok());
  ASSERT_TRUE(solver.Solve().ok());
  ExpectTotals(solver.allocation(), {3.6, 3.6, 8, 8});
}

TEST(SolverTest, TakesAUserMoreAndOneThatMovesElsewhere) {
  Instance three = Figure2();
  const User fourth = three.users.back();
  three.users.pop_back();
  Solver solver = *Solver::Create(three, {});
  ASSERT_TRUE(solver.Solve().ok());
  ASSERT_TRUE(solver.AddUser(fourth).ok());
  ASSERT_TRUE(solver.Solve().ok());
  ExpectTotals(solver.allocation(), {3.6, 3.6, 8, 8});
  User elsewhere = fourth;
  elsewhere.eligible = {true, false};
  ASSERT_TRUE(solver.SetUser(3, elsewhere).ok());
  ASSERT_TRUE(solver.Solve().ok());
  EXPECT_EQ(FindViolation(solver.instance(), solver.allocation(), Mode::kRdm), std::nullopt);
  EXPECT_EQ(solver.allocation().At(3, 1), 0);
}

TEST(SolverTest, StartsFromAFormerAllocation) {
  Solver solver = *Solver::Create(Figure2(), {});
  ASSERT_TRUE(solver.Solve().ok());
  Solver next = *Solver::Create(Figure2(), {});
  ASSERT_TRUE(next.StartFrom(solver.allocation()).ok());
  ASSERT_TRUE(next.Solve().ok());
  EXPECT_EQ(next.passes(), 1);
  EXPECT_EQ(next.StartFrom(Allocation(1, 1)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(SolverTest, ComputesServersThatLookAlikeAsOne) {
  Instance instance = Figure2();
  for (int copy = 0; copy < 9; ++copy) {
    instance.servers.push_back(instance.servers[0]);
    instance.servers.push_back(instance.servers[1]);
  }
  Solver merged = *Solver::Create(instance, {});
  EXPECT_EQ(merged.group_count(), 2);
  ExpectTotals(Solved(instance, {}), {36, 36, 80, 80});
  ExpectTotals(Solved(instance, {.epsilon = 1e-11, .merge_identical = false}), {36, 36, 80, 80});
}

TEST(SolverTest, SaysWhenItDidNotConvergeAndStaysFeasible) {
  Solver solver = *Solver::Create(Figure2(), {.damping = 0.1, .max_passes = 3});
  const absl::Status status = solver.Solve();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("max_passes = 3"));
  EXPECT_EQ(FindInfeasibility(Figure2(), solver.allocation(), Mode::kRdm), std::nullopt);
}

TEST(SolverTest, NothingToShareIsSharedAtOnce) {
  const Instance none{.resources = 1};
  EXPECT_TRUE(Solver::Create(none, {})->Solve().ok());
  const Instance no_users{.resources = 1, .servers = {{.capacity = {1}}}};
  EXPECT_TRUE(Solver::Create(no_users, {})->Solve().ok());
  const Instance nowhere{.resources = 1,
                         .servers = {{.capacity = {0}}, {.capacity = {5}}},
                         .users = {{.demand = {1}, .eligible = {true, false}}}};
  ExpectTotals(Solved(nowhere, {}), {0});
}

TEST(SolverTest, RefusesWhatMakesNoSense) {
  const auto message = [](const Instance& instance, const SolverOptions& options) {
    return std::string(Solver::Create(instance, options).status().message());
  };
  Instance instance = Figure1();
  EXPECT_THAT(message(instance, {.damping = 0}), HasSubstr("damping is 0"));
  EXPECT_THAT(message(instance, {.epsilon = 0}), HasSubstr("epsilon is 0"));
  EXPECT_THAT(message(instance, {.max_passes = 0}), HasSubstr("max_passes 0"));
  instance.users[1].demand = {0, 0, 0};
  EXPECT_THAT(message(instance, {}), HasSubstr("user 1: it demands nothing"));
  instance.users[1].demand = {1, 1};
  EXPECT_THAT(message(instance, {}), HasSubstr("user 1: 2 amounts for 3 kinds of resources"));
  instance.users[1] = {.demand = {1, 1, 1}, .weight = 0};
  EXPECT_THAT(message(instance, {}), HasSubstr("user 1: its weight is 0"));
  instance.users[1] = {.demand = {1, 1, 1}, .eligible = {true}};
  EXPECT_THAT(message(instance, {}), HasSubstr("of 1 servers"));
  instance = Figure1();
  instance.servers[0].capacity[2] = -1;
  EXPECT_THAT(message(instance, {}), HasSubstr("server 0: -1 of resource 2"));
  Solver solver = *Solver::Create(Figure1(), {});
  EXPECT_EQ(solver.SetUser(3, Figure1().users[0]).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(solver.AddUser({.demand = {1}}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace houtu::psdsf
