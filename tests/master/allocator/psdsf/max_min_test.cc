#include "master/allocator/psdsf/max_min.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "master/allocator/psdsf/properties.h"
#include "master/allocator/psdsf/theorem1.h"
#include "tests/master/allocator/psdsf/instances.h"

namespace houtu::psdsf {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

void ExpectTotals(const Instance& instance, MaxMinPolicy policy,
                  const std::vector<double>& totals) {
  const absl::StatusOr<Allocation> x = MaxMinAllocation(instance, policy);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(FindInfeasibility(instance, *x, Mode::kRdm), std::nullopt);
  for (size_t n = 0; n < totals.size(); ++n) {
    EXPECT_THAT(x->Totals()[n], DoubleNear(totals[n], 1e-7)) << "user " << n;
  }
}

TEST(MaxMinExampleTest, ConstrainedDrfhGivesFigure1AsPrinted) {
  ExpectTotals(Figure1(), MaxMinPolicy::kConstrainedDrfh, {60.0 / 23, 72.0 / 23, 144.0 / 23});
}

TEST(MaxMinExampleTest, TsfGivesFigure1AsPrinted) {
  ExpectTotals(Figure1(), MaxMinPolicy::kTsf, {2, 2, 8});
}

TEST(MaxMinExampleTest, GivesFigure2OtherwiseThanPsdsf) {
  ExpectTotals(Figure2(), MaxMinPolicy::kTsf, {2.625, 2.625, 10.5, 9.1875});
  const Allocation x = *MaxMinAllocation(Figure2(), MaxMinPolicy::kConstrainedDrfh);
  const std::vector<double> expected = {3.550, 3.550, 8.521, 7.456};
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_THAT(x.Totals()[n], DoubleNear(expected[n], 5e-4));
  }
}

TEST(MaxMinExampleTest, NeitherIsFairInTheBottleneckOfFigure1) {
  for (const MaxMinPolicy policy : {MaxMinPolicy::kConstrainedDrfh, MaxMinPolicy::kTsf}) {
    const auto unfair = FindBottleneckUnfairness(Figure1(), *MaxMinAllocation(Figure1(), policy));
    EXPECT_THAT(unfair.value_or("fair"), HasSubstr("resource 1 is everybody's bottleneck"));
  }
}

TEST(MaxMinTest, RefusesConstraintsWhereThePolicyKnowsNone) {
  for (const MaxMinPolicy policy : {MaxMinPolicy::kDrfh, MaxMinPolicy::kCdrf}) {
    const absl::Status status = MaxMinAllocation(Figure1(), policy).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("user 0 cannot run on server 1"));
  }
}

// The paper's table says that TSF gives sharing incentive. As the paper itself defines that with
// placement constraints, it does not: both users may use the second server only, of which the
// first can use a larger part of what it could use in all.
TEST(MaxMinExampleTest, TsfMayGiveLessThanAnEqualPartOfEachServer) {
  const Instance instance{.resources = 2,
                          .servers = {{.capacity = {20, 20}}, {.capacity = {14, 10}}},
                          .users = {{.demand = {9, 3}, .weight = 1, .eligible = {false, true}},
                                    {.demand = {1, 5}, .weight = 3, .eligible = {false, true}}}};
  const Allocation x = *MaxMinAllocation(instance, MaxMinPolicy::kTsf);
  EXPECT_THAT(FindWorseThanUniform(instance, x).value_or("fine"),
              HasSubstr("user 0 runs 0.372807"));
  Solver solver = *Solver::Create(instance, {});
  ASSERT_TRUE(solver.Solve().ok());
  EXPECT_EQ(FindWorseThanUniform(instance, solver.allocation()), std::nullopt);
}

TEST(MaxMinTest, LeavesToOthersWhatACapLeaves) {
  Instance instance = Figure1();
  instance.users[0].cap = 1;
  ExpectTotals(instance, MaxMinPolicy::kTsf, {1, 2.2, 8.8});
  instance.users[2].cap = 0;
  ExpectTotals(instance, MaxMinPolicy::kTsf, {1, 5, 0});
}

TEST(MaxMinTest, AUserThatCanRunNowhereGetsNothing) {
  Instance instance = Figure1();
  instance.users[0].eligible = {false, true};
  ExpectTotals(instance, MaxMinPolicy::kTsf, {0, 2.4, 9.6});
  EXPECT_TRUE(MaxMinAllocation({.resources = 1}, MaxMinPolicy::kTsf).ok());
}

TEST(MaxMinPropertyTest, OnOneServerAllPoliciesAreDrf) {
  EXPECT_TRUE(rc::check([] {
    Instance instance = AnyInstance({.caps = *rc::gen::arbitrary<bool>(), .positive = true});
    instance.servers.resize(1);
    for (User& user : instance.users) {
      user.eligible.clear();
    }
    Solver solver = *Solver::Create(instance, {});
    RC_ASSERT(solver.Solve().ok());
    for (const MaxMinPolicy policy : {MaxMinPolicy::kDrfh, MaxMinPolicy::kConstrainedDrfh,
                                      MaxMinPolicy::kCdrf, MaxMinPolicy::kTsf}) {
      const Allocation x = *MaxMinAllocation(instance, policy);
      for (int n = 0; n < instance.user_count(); ++n) {
        RC_ASSERT(std::abs(x.Totals()[n] - solver.Totals()[n]) < 1e-7);
      }
    }
  }));
}

TEST(MaxMinPropertyTest, TsfIsFeasibleAndFreeOfEnvy) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({});
    const Allocation x = *MaxMinAllocation(instance, MaxMinPolicy::kTsf);
    const auto bad = FindInfeasibility(instance, x, Mode::kRdm);
    RC_LOG() << bad.value_or("");
    RC_ASSERT(!bad.has_value());
    RC_ASSERT(!FindEnvy(instance, x, Mode::kRdm).has_value());
  }));
}

TEST(MaxMinPropertyTest, DrfhIsFreeOfEnvyAndCdrfGivesSharingIncentiveToo) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({.constraints = false, .positive = true});
    const Allocation drfh = *MaxMinAllocation(instance, MaxMinPolicy::kDrfh);
    RC_ASSERT(!FindEnvy(instance, drfh, Mode::kRdm).has_value());
    const Allocation cdrf = *MaxMinAllocation(instance, MaxMinPolicy::kCdrf);
    RC_ASSERT(!FindEnvy(instance, cdrf, Mode::kRdm).has_value());
    RC_ASSERT(!FindWorseThanUniform(instance, cdrf).has_value());
  }));
}

}  // namespace
}  // namespace houtu::psdsf
