#include "tests/bench/statistics.h"

#include <gtest/gtest.h>

namespace houtu::bench {
namespace {

TEST(StatisticsTest, APercentileIsTheValueOfItsNearestRank) {
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) {
    values.push_back(i);
  }
  EXPECT_EQ(Percentile(values, 50), 10);
  EXPECT_EQ(Percentile(values, 99), 20);
  EXPECT_EQ(Percentile(values, 0), 1);
  EXPECT_EQ(Percentile({7}, 99), 7);
}

TEST(StatisticsTest, TheMedianIsTheMiddle) {
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({1, 2, 3, 4}), 2);
}

}  // namespace
}  // namespace houtu::bench
