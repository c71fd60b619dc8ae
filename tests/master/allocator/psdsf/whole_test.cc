#include "master/allocator/psdsf/whole.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/master/allocator/psdsf/instances.h"

namespace houtu::psdsf {
namespace {

using ::testing::HasSubstr;

constexpr WholePolicy kPolicies[] = {WholePolicy::kPsdsf, WholePolicy::kResidualPsdsf,
                                     WholePolicy::kBestFitDrf, WholePolicy::kDrf,
                                     WholePolicy::kTsf};

/// Two servers of opposite proportions, and two users that each suit one of them.
WholeInstance Opposites() {
  return {.resources = 2,
          .servers = {{.capacity = {100, 30}}, {.capacity = {30, 100}}},
          .users = {{.demand = {5, 1}}, {.demand = {1, 5}}}};
}

int64_t Sum(const WholeAllocation& x) {
  const std::vector<int64_t> totals = x.Totals();
  return std::accumulate(totals.begin(), totals.end(), int64_t{0});
}

double MeanTotal(WholePolicy policy) {
  constexpr int kSeeds = 200;
  double sum = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    sum += static_cast<double>(Sum(*AllocateWhole(Opposites(), policy, seed)));
  }
  return sum / kSeeds;
}

TEST(WholeTest, ByTheResidualEveryTaskGoesWhereItSuits) {
  for (const WholePolicy policy : {WholePolicy::kResidualPsdsf, WholePolicy::kBestFitDrf}) {
    const WholeAllocation x = *AllocateWhole(Opposites(), policy, 1);
    EXPECT_EQ(x.At(0, 0), 19);
    EXPECT_EQ(x.At(1, 0), 2);
    EXPECT_EQ(x.At(0, 1), 2);
    EXPECT_EQ(x.At(1, 1), 19);
  }
}

// Published means: DRF 22.48, TSF 22.4, PS-DSF 41.08, BF-DRF 41, rPS-DSF 42.
TEST(WholeTest, PoliciesComeInThePublishedOrderOfMerit) {
  EXPECT_NEAR(MeanTotal(WholePolicy::kDrf), 22.5, 1);
  EXPECT_NEAR(MeanTotal(WholePolicy::kTsf), 22.5, 1);
  EXPECT_NEAR(MeanTotal(WholePolicy::kPsdsf), 41, 0.5);
  EXPECT_EQ(MeanTotal(WholePolicy::kBestFitDrf), 42);
  EXPECT_EQ(MeanTotal(WholePolicy::kResidualPsdsf), 42);
}

TEST(WholeTest, TasksThatRunStayAndCount) {
  WholeAllocation running(2, 2);
  running.At(0, 0) = 6;
  running.At(0, 1) = 3;
  const WholeAllocation x = *AllocateWhole(Opposites(), WholePolicy::kPsdsf, 1, running);
  EXPECT_GE(x.At(0, 0), 6);
  EXPECT_EQ(x.At(0, 1), 3) << "it has more than enough by the measure of that server";
  EXPECT_EQ(x.At(1, 1), 15) << "gets all that is left there";
}

TEST(WholeTest, NoUserGetsMoreThanItsCap) {
  WholeInstance instance = Opposites();
  instance.users[0].cap = 3;
  for (const WholePolicy policy : kPolicies) {
    const WholeAllocation x = *AllocateWhole(instance, policy, 1);
    EXPECT_EQ(x.Totals()[0], 3);
    EXPECT_GE(x.Totals()[1], 20);
  }
}

TEST(WholeTest, TwiceTheWeightIsTwiceTheTasks) {
  const WholeInstance instance{.resources = 1,
                               .servers = {{.capacity = {30}}},
                               .users = {{.demand = {1}}, {.demand = {1}, .weight = 2}}};
  for (const WholePolicy policy : kPolicies) {
    EXPECT_THAT(AllocateWhole(instance, policy, 1)->Totals(), ::testing::ElementsAre(10, 20));
  }
}

TEST(WholeTest, RefusesRunningTasksThatCannotBe) {
  WholeAllocation running(2, 2);
  running.At(0, 0) = 21;
  const auto full = AllocateWhole(Opposites(), WholePolicy::kPsdsf, 1, running);
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("21 tasks of user 0"));
  running.At(0, 0) = INT64_MAX;
  EXPECT_FALSE(AllocateWhole(Opposites(), WholePolicy::kPsdsf, 1, running).ok());
  EXPECT_FALSE(AllocateWhole(Opposites(), WholePolicy::kPsdsf, 1, WholeAllocation(1, 2)).ok());
}

WholeInstance AnyWholeInstance() {
  const Instance shape = AnyInstance({.caps = true});
  WholeInstance instance{.resources = shape.resources};
  const auto whole = [](const std::vector<double>& amounts) {
    return std::vector<int64_t>(amounts.begin(), amounts.end());
  };
  for (const Server& server : shape.servers) {
    instance.servers.push_back({.capacity = whole(server.capacity)});
  }
  for (const User& user : shape.users) {
    instance.users.push_back(
        {.demand = whole(user.demand), .weight = user.weight, .eligible = user.eligible});
    if (user.cap < kNoCap<double>) {
      instance.users.back().cap = static_cast<int64_t>(user.cap);
    }
  }
  return instance;
}

TEST(WholePropertyTest, NeverGrantsBeyondCapacityCapOrEligibilityAndLeavesNothingThatFits) {
  EXPECT_TRUE(rc::check([] {
    const WholeInstance instance = AnyWholeInstance();
    const WholePolicy policy =
        *rc::gen::elementOf(std::vector<WholePolicy>(std::begin(kPolicies), std::end(kPolicies)));
    const WholeAllocation x = *AllocateWhole(instance, policy, *rc::gen::arbitrary<uint64_t>());
    const std::vector<int64_t> totals = x.Totals();
    for (int i = 0; i < instance.server_count(); ++i) {
      std::vector<int64_t> free = instance.servers[i].capacity;
      for (int n = 0; n < instance.user_count(); ++n) {
        RC_ASSERT(x.At(n, i) >= 0 && (x.At(n, i) == 0 || instance.users[n].EligibleOn(i)));
        RC_ASSERT(totals[n] <= instance.users[n].cap);
        for (int r = 0; r < instance.resources; ++r) {
          free[r] -= x.At(n, i) * instance.users[n].demand[r];
          RC_ASSERT(free[r] >= 0);
        }
      }
      for (int n = 0; n < instance.user_count(); ++n) {
        bool fits = instance.users[n].EligibleOn(i) && totals[n] < instance.users[n].cap;
        for (int r = 0; r < instance.resources; ++r) {
          fits = fits && instance.users[n].demand[r] <= free[r];
        }
        RC_ASSERT(!fits);
      }
    }
  }));
}

/// What PS-DSF's heap form does, without a heap.
TEST(WholePropertyTest, OnOneServerItIsTheSmallestKeyThatFitsEachTime) {
  EXPECT_TRUE(rc::check([] {
    WholeInstance instance = AnyWholeInstance();
    instance.servers.resize(1);
    for (WholeUser& user : instance.users) {
      user.eligible.clear();
    }
    std::vector<int64_t> free = instance.servers[0].capacity;
    std::vector<int64_t> got(instance.users.size(), 0);
    while (true) {
      int best = -1;
      double least = 0;
      for (int n = 0; n < instance.user_count(); ++n) {
        const WholeUser& user = instance.users[n];
        bool fits = got[n] < user.cap;
        for (int r = 0; r < instance.resources; ++r) {
          fits = fits && user.demand[r] <= free[r];
        }
        const double key =
            fits ? static_cast<double>(got[n]) / (user.weight * Gamma(instance, n, 0)) : 0;
        if (fits && (best < 0 || key < least)) {
          best = n;
          least = key;
        }
      }
      if (best < 0) {
        break;
      }
      ++got[best];
      for (int r = 0; r < instance.resources; ++r) {
        free[r] -= instance.users[best].demand[r];
      }
    }
    RC_ASSERT(AllocateWhole(instance, WholePolicy::kPsdsf, 1)->Totals() == got);
  }));
}

TEST(WholePropertyTest, TheSameSeedGivesTheSame) {
  EXPECT_TRUE(rc::check([] {
    const WholeInstance instance = AnyWholeInstance();
    for (const WholePolicy policy : kPolicies) {
      RC_ASSERT(*AllocateWhole(instance, policy, 5) == *AllocateWhole(instance, policy, 5));
    }
  }));
}

}  // namespace
}  // namespace houtu::psdsf
