#include "common/log/line_budget.h"

#include <gtest/gtest.h>

namespace houtu {
namespace {

TEST(LineBudgetTest, LinesOverTheBudgetAreHeldBackAndToldWithTheNext) {
  LineBudget budget(2);
  const absl::Time start = absl::FromUnixSeconds(100);
  EXPECT_EQ(budget.Take(start), 0);
  EXPECT_EQ(budget.Take(start + absl::Milliseconds(10)), 0);
  EXPECT_EQ(budget.Take(start + absl::Milliseconds(20)), std::nullopt);
  EXPECT_EQ(budget.Take(start + absl::Milliseconds(999)), std::nullopt);
  EXPECT_EQ(budget.Take(start + absl::Seconds(1)), 2);
  EXPECT_EQ(budget.Take(start + absl::Seconds(1)), 0);
  EXPECT_EQ(budget.Take(start + absl::Seconds(1)), std::nullopt);
}

TEST(LineBudgetTest, AClockThatIsSetBackHoldsNothingBackForLong) {
  LineBudget budget(1);
  EXPECT_EQ(budget.Take(absl::FromUnixSeconds(100)), 0);
  EXPECT_EQ(budget.Take(absl::FromUnixSeconds(50)), 0);
  EXPECT_EQ(budget.Take(absl::FromUnixSeconds(50)), std::nullopt);
}

}  // namespace
}  // namespace houtu
