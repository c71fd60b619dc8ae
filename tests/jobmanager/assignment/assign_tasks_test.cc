#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>

#include "jobmanager/assignment/assignment.h"

namespace houtu::jobmanager {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AssignTasksTest, TasksGoWhereTheyArePinned) {
  EXPECT_THAT(AssignTasks({.tasks = 4, .datacenters = 3, .pinned = {2, 0, 2, 1}}, 0),
              ElementsAre(2, 0, 2, 1));
}

TEST(AssignTasksTest, OnlyTheFreeTasksAreSplit) {
  const InputBytes input{
      .tasks = 6, .datacenters = 2, .pinned = {0, -1, 0, -1, 0, -1}, .common = {1, 2}};
  EXPECT_THAT(AssignTasks(input, 0), ElementsAre(0, 0, 0, 1, 0, 1));
}

TEST(AssignTasksTest, SplitsByTheBytesThatAllRead) {
  EXPECT_THAT(AssignTasks({.tasks = 4, .datacenters = 3, .common = {100, 0, 300}}, 1),
              ElementsAre(0, 2, 2, 2));
}

TEST(AssignTasksTest, TheOnlyTaskGoesWhereMostBytesLie) {
  EXPECT_THAT(AssignTasks({.tasks = 1, .datacenters = 3, .common = {10, 30, 20}}, 0),
              ElementsAre(1));
}

TEST(AssignTasksTest, ADatacenterIsGivenFirstTheTasksWhoseBytesItHolds) {
  const InputBytes input{.tasks = 4, .datacenters = 2, .own = {{0, 10}, {10, 0}, {0, 10}, {10, 0}}};
  EXPECT_THAT(AssignTasks(input, 0), ElementsAre(1, 0, 1, 0));
}

TEST(AssignTasksTest, TheTasksWithTheMostBytesChooseFirst) {
  const InputBytes input{.tasks = 3, .datacenters = 2, .own = {{60, 50}, {70, 5}, {90, 10}}};
  EXPECT_THAT(AssignTasks(input, 0), ElementsAre(1, 0, 0)) << "of 220 and 65 bytes: two and one";
}

TEST(AssignTasksTest, BytesThatAllReadAndOwnBytesWeighTogether) {
  const InputBytes input{.tasks = 4, .datacenters = 2, .common = {20, 0}, .own = {4, {0, 5}}};
  EXPECT_THAT(AssignTasks(input, 1), ElementsAre(1, 1, 0, 0)) << "each holds 20 bytes";
}

TEST(AssignTasksTest, APinnedTasksOwnBytesDoNotDrawOthers) {
  const InputBytes input{
      .tasks = 3, .datacenters = 2, .pinned = {0, -1, -1}, .own = {{1000, 0}, {0, 1}, {0, 1}}};
  EXPECT_THAT(AssignTasks(input, 0), ElementsAre(0, 1, 1));
}

TEST(AssignTasksTest, WhereNothingIsKnownTasksAreSpreadAndHomeGetsTheOddOne) {
  EXPECT_THAT(AssignTasks({.tasks = 5, .datacenters = 2}, 1), ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(AssignTasks({.tasks = 1, .datacenters = 3}, 2), ElementsAre(2));
}

TEST(AssignTasksTest, OneDatacenterGetsAll) {
  EXPECT_THAT(AssignTasks({.tasks = 5, .common = {7}}, 0), Each(0));
  EXPECT_THAT(AssignTasks({.tasks = 5}, 0), Each(0));
}

TEST(AssignTasksTest, NoTasksAreAssignedToNone) {
  EXPECT_THAT(AssignTasks({.tasks = 0, .datacenters = 3, .common = {1, 2, 3}}, 0), IsEmpty());
}

InputBytes AnyInput() {
  InputBytes input;
  input.tasks = *rc::gen::inRange(0, 25);
  input.datacenters = *rc::gen::inRange(1, 5);
  const auto tasks = static_cast<size_t>(input.tasks);
  const auto datacenters = static_cast<size_t>(input.datacenters);
  const auto bytes = rc::gen::container<std::vector<int64_t>>(
      datacenters, rc::gen::weightedOneOf<int64_t>({{1, rc::gen::just<int64_t>(0)},
                                                    {2, rc::gen::inRange<int64_t>(0, 5)},
                                                    {1, rc::gen::inRange<int64_t>(0, 1 << 30)}}));
  if (*rc::gen::arbitrary<bool>()) {
    input.pinned = *rc::gen::container<std::vector<int>>(
        tasks, rc::gen::oneOf(rc::gen::just(-1), rc::gen::inRange(0, input.datacenters)));
  }
  if (*rc::gen::arbitrary<bool>()) {
    input.common = *bytes;
  }
  if (*rc::gen::arbitrary<bool>()) {
    input.own = *rc::gen::container<std::vector<std::vector<int64_t>>>(tasks, bytes);
  }
  return input;
}

bool IsFree(const InputBytes& input, size_t task) {
  return input.pinned.empty() || input.pinned[task] == -1;
}

std::vector<int> FreeTasksByDatacenter(const InputBytes& input, const std::vector<int>& assigned) {
  std::vector<int> counts(input.datacenters);
  for (size_t task = 0; task < assigned.size(); ++task) {
    counts[assigned[task]] += IsFree(input, task) ? 1 : 0;
  }
  return counts;
}

// What the free tasks read, by datacenter.
std::vector<int64_t> BytesByDatacenter(const InputBytes& input) {
  std::vector<int64_t> sums = input.common;
  sums.resize(input.datacenters);
  for (size_t task = 0; task < input.own.size(); ++task) {
    for (int dc = 0; IsFree(input, task) && dc < input.datacenters; ++dc) {
      sums[dc] += input.own[task][dc];
    }
  }
  return sums;
}

TEST(AssignTasksTest, EveryTaskHasOnePlaceAndTheFreeOnesKeepTheProportion) {
  EXPECT_TRUE(rc::check([] {
    const InputBytes input = AnyInput();
    const int home = *rc::gen::inRange(0, input.datacenters);
    const std::vector<int> assigned = AssignTasks(input, home);
    RC_ASSERT(assigned.size() == static_cast<size_t>(input.tasks));
    int free_tasks = 0;
    for (size_t task = 0; task < assigned.size(); ++task) {
      RC_ASSERT(0 <= assigned[task]);
      RC_ASSERT(assigned[task] < input.datacenters);
      RC_ASSERT((IsFree(input, task) || assigned[task] == input.pinned[task]));
      free_tasks += IsFree(input, task) ? 1 : 0;
    }
    RC_ASSERT(FreeTasksByDatacenter(input, assigned) ==
              SplitByWeight(free_tasks, BytesByDatacenter(input), home));
    RC_ASSERT(AssignTasks(input, home) == assigned);
  }));
}

// No task would find more of its bytes elsewhere, unless tasks with as many bytes fill that place.
TEST(AssignTasksTest, ATaskIsOnlyKeptFromItsBytesByTasksWithAsMany) {
  EXPECT_TRUE(rc::check([] {
    const InputBytes input = AnyInput();
    const std::vector<int> assigned = AssignTasks(input, 0);
    for (size_t task = 0; task < input.own.size(); ++task) {
      for (int dc = 0; IsFree(input, task) && dc < input.datacenters; ++dc) {
        const int64_t wished = input.own[task][dc];
        if (wished <= input.own[task][assigned[task]]) {
          continue;
        }
        for (size_t other = 0; other < assigned.size(); ++other) {
          RC_ASSERT(
              (!IsFree(input, other) || assigned[other] != dc || input.own[other][dc] >= wished));
        }
      }
    }
  }));
}

}  // namespace
}  // namespace houtu::jobmanager
