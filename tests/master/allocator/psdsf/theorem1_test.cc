#include "master/allocator/psdsf/theorem1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/allocator/psdsf/instances.h"

namespace houtu::psdsf {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The printed allocation of Fig. 1.
Allocation Printed() {
  Allocation x(3, 2);
  x.At(0, 0) = 3;
  x.At(1, 0) = 3;
  x.At(2, 1) = 6;
  return x;
}

std::string Violation(const Instance& instance, const Allocation& x, Mode mode = Mode::kRdm) {
  return FindViolation(instance, x, mode).value_or("none");
}

TEST(Theorem1Test, FindsNothingWrongWithThePrintedAllocation) {
  EXPECT_EQ(Violation(Figure1(), Printed(), Mode::kRdm), "none");
  EXPECT_EQ(Violation(Figure1(), Printed(), Mode::kTdm), "none");
}

TEST(Theorem1Test, NamesAServerThatIsOverfull) {
  Allocation x = Printed();
  x.At(2, 1) = 6.5;
  EXPECT_EQ(Violation(Figure1(), x), "server 1: 13 of resource 1 is used, of 12");
  EXPECT_THAT(Violation(Figure1(), x, Mode::kTdm), StartsWith("server 1: 1.0833"));
}

TEST(Theorem1Test, NamesAUserThatIsWhereItCannotBe) {
  Allocation x = Printed();
  x.At(0, 1) = 1;
  EXPECT_EQ(Violation(Figure1(), x), "server 1: user 0 has 1 tasks and cannot run any here");
  x.At(0, 1) = -1;
  EXPECT_EQ(Violation(Figure1(), x), "server 1: user 0 has -1 tasks");
}

TEST(Theorem1Test, NamesAUserBeyondItsCap) {
  Instance instance = Figure1();
  instance.users[0].cap = 2;
  EXPECT_EQ(Violation(instance, Printed()), "user 0 has 3 tasks and its cap is 2");
}

TEST(Theorem1Test, NamesAUserThatCouldHaveWhatIsFree) {
  Allocation x = Printed();
  x.At(2, 1) = 5;
  Instance instance = Figure1();
  instance.users[2].eligible = {false, true};
  EXPECT_THAT(Violation(instance, x), StartsWith("server 1: user 2 at level"));
  EXPECT_THAT(Violation(instance, x), HasSubstr("resource 1 is not used up: 10 of 12"));
  instance.users[2].cap = 5;
  EXPECT_EQ(Violation(instance, x), "none") << "it does not want more";
}

TEST(Theorem1Test, NamesWhoHoldsWhatAUserBelowShouldHave) {
  Allocation x = Printed();
  x.At(0, 0) = 2;
  x.At(1, 0) = 4;
  EXPECT_EQ(Violation(Figure1(), x),
            "server 0: user 0 at level 0.3333333333333333 has no bottleneck; resource 0 is not "
            "used up: 6 of 9; resource 1 is held by user 1 at level 0.6666666666666666; resource "
            "2 is not used up: 24 of 100");
  EXPECT_THAT(Violation(Figure1(), x, Mode::kTdm), HasSubstr("time is held by user 1"));
}

}  // namespace
}  // namespace houtu::psdsf
