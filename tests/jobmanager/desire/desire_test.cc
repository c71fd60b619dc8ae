#include "jobmanager/desire/desire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace houtu::jobmanager {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kMi = int64_t{1} << 20;

// Shapes are told from one another by their cores.
ShapeWork Work(int cores, int waiting, int held = 0) {
  ShapeWork work;
  work.resources = Resources(int64_t{1000} * cores, 64 * kMi);
  work.waiting = waiting;
  work.held = held;
  return work;
}

int64_t CoresOf(const v1::Demand& demand) { return demand.resources().cpu_millis() / 1000; }

// (cores, containers) of each demand.
std::vector<std::pair<int64_t, int>> Asked(const v1::Desire& desire) {
  std::vector<std::pair<int64_t, int>> asked;
  for (const v1::Demand& demand : desire.demands()) {
    asked.emplace_back(CoresOf(demand), demand.containers());
  }
  return asked;
}

TEST(DesireTest, AsksForOneContainerForEachTaskBesidesThoseHeld) {
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 3), Work(2, 4, 5), Work(3, 0, 2)}, 100)),
              ElementsAre(Pair(1, 3), Pair(2, 9), Pair(3, 2)));
}

TEST(DesireTest, LeavesOutShapesThatNeedNone) {
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 0), Work(2, 1), Work(3, 0)}, 100)),
              ElementsAre(Pair(2, 1)));
  EXPECT_THAT(Asked(ComputeDesire({}, 100)), IsEmpty());
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 5), Work(2, 5)}, 5)), ElementsAre(Pair(1, 5)))
      << "what finds no room any more is not asked for";
}

TEST(DesireTest, TheLimitHoldsOverAllShapesInTheirOrder) {
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 6), Work(2, 6), Work(3, 6)}, 10)),
              ElementsAre(Pair(1, 6), Pair(2, 4)));
}

TEST(DesireTest, WhatIsHeldCountsBeforeWhatWaitsInAnEarlierShape) {
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 20), Work(2, 0, 7)}, 10)),
              ElementsAre(Pair(1, 3), Pair(2, 7)));
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 20), Work(2, 1, 10)}, 10)), ElementsAre(Pair(2, 10)));
}

TEST(DesireTest, WhatIsHeldBeyondTheLimitIsKeptAndNoMoreIsAskedFor) {
  EXPECT_THAT(Asked(ComputeDesire({Work(1, 20, 4), Work(2, 1, 10)}, 10)),
              ElementsAre(Pair(1, 4), Pair(2, 10)));
}

TEST(DesireTest, ADemandSaysWhatItsContainersAreLike) {
  ShapeWork work = Work(2, 1);
  work.resources.set_custom("gpu", 1);
  work.system = {.image = "python", .network = v1::NETWORK_HOST};
  work.stage = "count";
  const v1::Desire desire = ComputeDesire({work}, 10);
  ASSERT_EQ(desire.demands_size(), 1);
  const v1::Demand& demand = desire.demands(0);
  EXPECT_EQ(Resources::FromProto(demand.resources()), work.resources);
  EXPECT_EQ(demand.image(), "python");
  EXPECT_EQ(demand.network(), v1::NETWORK_HOST);
  EXPECT_EQ(demand.stage(), "count");
  EXPECT_THAT(demand.nodes(), IsEmpty());
}

TEST(DesireTest, PrefersTheNodesThatHoldContainersAndThoseWhereWorkLies) {
  ShapeWork work = Work(1, 5, 3);
  work.held_by_node = {{"n1", 2}, {"n2", 1}};
  work.waiting_by_node = {{"n2", 3}, {"n3", 1}};
  const v1::Desire desire = ComputeDesire({work}, 100);
  ASSERT_EQ(desire.demands_size(), 1);
  EXPECT_THAT(desire.demands(0).nodes(),
              UnorderedElementsAre(Pair("n1", 2), Pair("n2", 4), Pair("n3", 1)));
}

TEST(DesireTest, PrefersNoNodeForMoreContainersThanItAsksFor) {
  ShapeWork work = Work(1, 9);
  work.waiting_by_node = {{"n1", 7}, {"n2", 1}};
  const v1::Desire desire = ComputeDesire({Work(2, 0, 4), work}, 6);
  ASSERT_EQ(desire.demands_size(), 2);
  EXPECT_THAT(desire.demands(1).nodes(), UnorderedElementsAre(Pair("n1", 2), Pair("n2", 1)));
}

TEST(DesireTest, WhereNothingMoreIsAskedForOnlyTheNodesOfHeldContainersAreNamed) {
  ShapeWork work = Work(1, 9, 4);
  work.held_by_node = {{"n1", 4}};
  work.waiting_by_node = {{"n2", 9}};
  const v1::Desire desire = ComputeDesire({work}, 4);
  ASSERT_EQ(desire.demands_size(), 1);
  EXPECT_THAT(desire.demands(0).nodes(), UnorderedElementsAre(Pair("n1", 4)));
}

std::vector<ShapeWork> AnyShapes() {
  std::vector<ShapeWork> shapes;
  const int count = *rc::gen::inRange(0, 6);
  for (int i = 1; i <= count; ++i) {
    const int on_node = *rc::gen::inRange(0, 8);
    shapes.push_back(Work(i, on_node + *rc::gen::inRange(0, 8), *rc::gen::inRange(0, 8)));
    shapes.back().held_by_node = {{"n1", shapes.back().held}};
    shapes.back().waiting_by_node = {{"n2", on_node}};
  }
  return shapes;
}

// Containers asked for beyond those held, by shape; asserts that a demand covers what is held.
std::vector<int> MoreByShape(const std::vector<ShapeWork>& shapes, const v1::Desire& desire) {
  std::vector<int> more;
  int next = 0;
  for (const ShapeWork& work : shapes) {
    int containers = 0;
    if (next < desire.demands_size() &&
        Resources::FromProto(desire.demands(next).resources()) == work.resources) {
      containers = desire.demands(next++).containers();
      RC_ASSERT(containers > 0);
    }
    more.push_back(containers - work.held);
  }
  RC_ASSERT(next == desire.demands_size());
  return more;
}

TEST(DesireTest, UsesTheWholeLimitAndNoMoreShapeByShape) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<ShapeWork> shapes = AnyShapes();
    const int containers_max = *rc::gen::inRange(0, 60);
    const v1::Desire desire = ComputeDesire(shapes, containers_max);
    const std::vector<int> more = MoreByShape(shapes, desire);
    int left = containers_max;
    for (const ShapeWork& work : shapes) {
      left -= work.held;
    }
    left = std::max(left, 0);
    for (size_t i = 0; i < shapes.size(); ++i) {
      RC_ASSERT(more[i] == std::min(shapes[i].waiting, left));
      left -= more[i];
    }
    for (const v1::Demand& demand : desire.demands()) {
      const ShapeWork& work = shapes[CoresOf(demand) - 1];
      const int wanted = std::min(work.waiting_by_node.at("n2"), demand.containers() - work.held);
      RC_ASSERT((demand.nodes().contains("n1") ? demand.nodes().at("n1") : 0) == work.held);
      RC_ASSERT((demand.nodes().contains("n2") ? demand.nodes().at("n2") : 0) == wanted);
    }
  }));
}

}  // namespace
}  // namespace houtu::jobmanager
