#include "common/base/resources.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace houtu {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

TEST(ResourcesTest, FreeAndUsedAreTheCapacityAfterAMillionRandomSteps) {
  const Resources capacity(1000, kGi);
  const Resources lease(100, kGi / 10);
  Resources free = capacity;
  Resources used;
  int held = 0;
  std::mt19937 random(18);
  for (int step = 0; step < 1'000'000; ++step) {
    if (held > 0 && random() % 2 == 0) {
      used -= lease;
      free += lease;
      --held;
    } else if (lease.FitsIn(free)) {
      free -= lease;
      used += lease;
      ++held;
    } else {
      ASSERT_EQ(held, 10) << "ten fit, an eleventh does not";
    }
    ASSERT_EQ(free + used, capacity);
    ASSERT_GE(free.cpu_millis(), 0);
  }
  while (held-- > 0) {
    used -= lease;
    free += lease;
  }
  EXPECT_TRUE(capacity.FitsIn(free)) << "a whole core fits again";
  EXPECT_EQ(used, Resources());
}

TEST(ResourcesTest, ThirdsOfAnAmountAddUpExactly) {
  const Resources whole(1000, kGi);
  const Resources third(1000 / 3, kGi / 3);
  Resources free = whole;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(third.FitsIn(free));
    free -= third;
  }
  EXPECT_EQ(free, Resources(1, 1)) << "what integer division leaves";
  EXPECT_FALSE(third.FitsIn(free));
  EXPECT_EQ(free + third + third + third, whole);
}

TEST(ResourcesTest, FurtherKindsAreCountedAndForgottenAtZero) {
  Resources node(1000, kGi);
  node.set_custom("gpu", 2);
  Resources task(100, 1);
  task.set_custom("gpu", 1);
  EXPECT_TRUE(task.FitsIn(node));
  node -= task;
  node -= task;
  EXPECT_FALSE(task.FitsIn(node)) << "no gpu is left";
  EXPECT_TRUE(node.customs().empty());
  EXPECT_EQ(node, Resources(800, kGi - 2));
  task.set_custom("licence", 1);
  EXPECT_FALSE(task.FitsIn(Resources(1000, kGi))) << "a kind that the node does not have";
}

TEST(ResourcesTest, TakenFromItselfNothingIsLeft) {
  Resources all(100, 200);
  all.set_custom("a", 1);
  all.set_custom("b", 2);
  const Resources& same = all;
  all -= same;
  EXPECT_EQ(all, Resources());
}

TEST(ResourcesTest, TheMessageReadsBackTheSame) {
  Resources resources(1500, 3 * kGi);
  resources.set_custom("gpu", 4);
  EXPECT_EQ(Resources::FromProto(resources.ToProto()), resources);
}

TEST(ResourcesTest, OrderIsByCpuThenMemoryThenTheOthers) {
  Resources with_gpu(1, 1);
  with_gpu.set_custom("gpu", 1);
  const std::vector<Resources> rising = {{1, 1}, with_gpu, {1, 2}, {2, 0}};
  for (size_t i = 0; i + 1 < rising.size(); ++i) {
    EXPECT_TRUE(rising[i] < rising[i + 1]) << i;
  }
}

TEST(ResourcesTest, AmountsReadAsTheyAreWritten) {
  Resources resources(500, int64_t{64} << 20);
  resources.set_custom("gpu", 1);
  EXPECT_EQ(resources.Describe(), "cpu 500m, memory 64Mi, gpu 1");
  EXPECT_EQ(DescribeBytes(1000), "1000");
  EXPECT_EQ(DescribeBytes(1536 * 1024), "1536Ki");
  EXPECT_EQ(DescribeBytes(kGi), "1Gi");
  EXPECT_EQ(DescribeBytes(0), "0");
  EXPECT_EQ(DescribeBytes(kGi << 20), "1024Ti");
  EXPECT_EQ(DescribeCpu(2000), "2");
  EXPECT_EQ(DescribeCpu(1), "1m");
}

TEST(ResourcesDeathTest, MoreThanIsThereIsNeverTaken) {
  Resources little(100, 100);
  EXPECT_DEATH(little -= Resources(101, 0), "only what is there is taken: cpu 101m");
}

TEST(ResourcesDeathTest, ASumThatDoesNotFitIsABrokenInvariant) {
  Resources most(INT64_MAX, 0);
  EXPECT_DEATH(most += Resources(1, 0), "sums of resources fit 64 bits");
  Resources custom;
  custom.set_custom("gpu", INT64_MAX);
  const Resources same = custom;
  EXPECT_DEATH(custom += same, "sums of resources fit 64 bits");
}

}  // namespace
}  // namespace houtu
