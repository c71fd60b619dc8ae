#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <numeric>
#include <tuple>

#include "jobmanager/assignment/assignment.h"

namespace houtu::jobmanager {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int64_t kHuge = int64_t{1} << 62;

using Wide = unsigned __int128;

TEST(SplitByWeightTest, GivesEachItsExactPartWhereThatIsWhole) {
  EXPECT_THAT(SplitByWeight(10, {30, 50, 20}, 0), ElementsAre(3, 5, 2));
  EXPECT_THAT(SplitByWeight(4, {0, 7, 0}, 0), ElementsAre(0, 4, 0));
}

TEST(SplitByWeightTest, GivesWhatIsLeftToTheLargestRemainders) {
  EXPECT_THAT(SplitByWeight(10, {47, 16, 37}, 1), ElementsAre(5, 1, 4)) << "of 4.7, 1.6, 3.7";
  EXPECT_THAT(SplitByWeight(1, {1, 2, 1}, 0), ElementsAre(0, 1, 0));
}

TEST(SplitByWeightTest, GivesTiesToThePreferredThenToTheLower) {
  EXPECT_THAT(SplitByWeight(1, {5, 5, 5}, 2), ElementsAre(0, 0, 1));
  EXPECT_THAT(SplitByWeight(2, {5, 5, 5}, 2), ElementsAre(1, 0, 1));
  EXPECT_THAT(SplitByWeight(7, {1, 1}, 1), ElementsAre(3, 4));
  EXPECT_THAT(SplitByWeight(2, {5, 5, 5}, -1), ElementsAre(1, 1, 0)) << "none is preferred";
}

TEST(SplitByWeightTest, APreferredOneWithoutWeightGetsNothing) {
  EXPECT_THAT(SplitByWeight(5, {0, 1, 1}, 0), ElementsAre(0, 3, 2));
}

TEST(SplitByWeightTest, SplitsEvenlyWhereNothingWeighs) {
  EXPECT_THAT(SplitByWeight(6, {0, 0, 0}, 0), ElementsAre(2, 2, 2));
  EXPECT_THAT(SplitByWeight(5, {0, 0, 0}, 2), ElementsAre(2, 1, 2));
}

TEST(SplitByWeightTest, NothingIsSplitIntoNothing) {
  EXPECT_THAT(SplitByWeight(0, {3, 4, 5}, 1), Each(0));
  EXPECT_THAT(SplitByWeight(0, {0, 0}, 1), Each(0));
}

TEST(SplitByWeightTest, OneAloneGetsAll) {
  EXPECT_THAT(SplitByWeight(9, {3}, 0), ElementsAre(9));
  EXPECT_THAT(SplitByWeight(9, {0}, 0), ElementsAre(9));
}

TEST(SplitByWeightTest, HugeWeightsDoNotOverflow) {
  EXPECT_THAT(SplitByWeight(100'000, {kHuge, kHuge, kHuge, kHuge}, 0), Each(25'000));
  EXPECT_THAT(SplitByWeight(INT32_MAX, {INT64_MAX, INT64_MAX}, 1),
              ElementsAre(INT32_MAX / 2, INT32_MAX / 2 + 1));
  EXPECT_THAT(SplitByWeight(3, {INT64_MAX, INT64_MAX - 1, 1}, 2), ElementsAre(2, 1, 0));
}

rc::Gen<std::vector<int64_t>> AnyWeights() {
  return rc::gen::mapcat(rc::gen::inRange<size_t>(1, 8), [](size_t count) {
    return rc::gen::container<std::vector<int64_t>>(
        count, rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 4),  // many ties
                              rc::gen::inRange<int64_t>(0, 1'000'000),
                              rc::gen::inRange<int64_t>(kHuge - 3, kHuge + 1)));
  });
}

TEST(SplitByWeightTest, PartsSumToTheTotalAndAreLessThanOneFromTheProportion) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<int64_t> weights = *AnyWeights();
    const int total = *rc::gen::inRange(0, 100'001);
    const auto parts =
        SplitByWeight(total, weights, *rc::gen::inRange(0, static_cast<int>(weights.size())));
    RC_ASSERT(parts.size() == weights.size());
    RC_ASSERT(std::accumulate(parts.begin(), parts.end(), int64_t{0}) == total);
    const Wide sum = std::accumulate(weights.begin(), weights.end(), Wide{0});
    for (size_t i = 0; sum > 0 && i < parts.size(); ++i) {
      RC_ASSERT(parts[i] >= 0);
      const Wide exact = static_cast<Wide>(weights[i]) * static_cast<Wide>(total);
      const Wide given = sum * static_cast<Wide>(parts[i]);
      RC_ASSERT((exact > given ? exact - given : given - exact) < sum);
    }
  }));
}

TEST(SplitByWeightTest, WhoIsRoundedUpHasTheLargerRemainder) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<int64_t> weights = *AnyWeights();
    const Wide sum = std::accumulate(weights.begin(), weights.end(), Wide{0});
    RC_PRE(sum > Wide{0});
    const int total = *rc::gen::inRange(0, 1000);
    const int count = static_cast<int>(weights.size());
    const int preferred = *rc::gen::inRange(0, count);
    const auto parts = SplitByWeight(total, weights, preferred);
    const auto exact = [&](int i) {
      return static_cast<Wide>(weights[i]) * static_cast<Wide>(total);
    };
    const auto claim = [&](int i) { return std::tuple(exact(i) % sum, i == preferred, -i); };
    const auto rounded_up = [&](int i) { return static_cast<Wide>(parts[i]) > exact(i) / sum; };
    for (int up = 0; up < count; ++up) {
      for (int down = 0; rounded_up(up) && down < count; ++down) {
        RC_ASSERT((rounded_up(down) || claim(up) > claim(down)));
      }
    }
  }));
}

}  // namespace
}  // namespace houtu::jobmanager
