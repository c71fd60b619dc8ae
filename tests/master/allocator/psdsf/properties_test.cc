#include "master/allocator/psdsf/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/master/allocator/psdsf/instances.h"

namespace houtu::psdsf {
namespace {

using ::testing::HasSubstr;

Allocation Solved(const Instance& instance, Mode mode) {
  Solver solver = *Solver::Create(instance, {.mode = mode});
  EXPECT_TRUE(solver.Solve().ok());
  return solver.allocation();
}

TEST(PropertiesTest, SayWhoIsWorseOffAndWhy) {
  const Instance instance{
      .resources = 1, .servers = {{.capacity = {10}}}, .users = {{.demand = {1}}, {.demand = {1}}}};
  Allocation x(2, 1);
  x.At(0, 0) = 4;
  x.At(1, 0) = 6;
  EXPECT_EQ(FindWorseThanUniform(instance, x).value_or("fine"),
            "user 0 runs 4 tasks; by an equal part of each server it would run 5");
  EXPECT_EQ(FindEnvy(instance, x, Mode::kRdm).value_or("fine"),
            "user 0 runs 4 tasks; with what user 1 has it would run 6");
  EXPECT_THAT(FindBottleneckUnfairness(instance, x).value_or("fine"),
              HasSubstr("resource 0 is everybody's bottleneck; server 0: user 0"));
}

TEST(PropertiesTest, WhoHasItsCapMissesNothing) {
  const Instance instance{.resources = 1,
                          .servers = {{.capacity = {10}}},
                          .users = {{.demand = {1}, .cap = 4}, {.demand = {1}}}};
  Allocation x(2, 1);
  x.At(0, 0) = 4;
  x.At(1, 0) = 6;
  EXPECT_EQ(FindWorseThanUniform(instance, x), std::nullopt);
  EXPECT_EQ(FindEnvy(instance, x, Mode::kRdm), std::nullopt);
  EXPECT_EQ(FindBottleneckUnfairness(instance, x), std::nullopt);
}

TEST(PropertiesTest, PsdsfIsFairInTheBottleneckOfFigure1) {
  EXPECT_EQ(FindBottleneckUnfairness(Figure1(), Solved(Figure1(), Mode::kRdm)), std::nullopt);
}

TEST(PsdsfPropertyTest, GivesSharingIncentiveAndNoEnvyAndIsFairInBottlenecks) {
  EXPECT_TRUE(rc::check([] {
    const Instance instance = AnyInstance({});
    const Mode mode = AnyMode();
    const Allocation x = Solved(instance, mode);
    RC_ASSERT(!FindWorseThanUniform(instance, x).has_value());
    RC_ASSERT(!FindEnvy(instance, x, mode).has_value());
    RC_ASSERT(!FindBottleneckUnfairness(instance, x).has_value());
  }));
}

}  // namespace
}  // namespace houtu::psdsf
