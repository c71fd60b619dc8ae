#include "jobmanager/placement/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobmanager/placement/waiting_list.h"

namespace houtu::jobmanager {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "<task>@<lease>" in the order of placement.
std::vector<std::string> PlaceAll(const std::vector<OpenContainer>& containers,
                                  WaitingList* waiting) {
  std::vector<std::string> out;
  for (const Placed& placed : Place(containers, waiting)) {
    out.push_back(std::to_string(placed.task.task) + "@" + placed.lease);
  }
  return out;
}

TEST(PlacementTest, NodeLocalTasksGoBeforeRackLocalOnesAndThoseBeforeOthers) {
  WaitingList waiting({{.task = 0, .node = "far", .rack = "r9"},
                       {.task = 1, .node = "n2", .rack = "r1"},
                       {.task = 2, .node = "n1", .rack = "r1"}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 3)}, &waiting),
              ElementsAre("2@a", "1@a", "0@a"));
}

TEST(PlacementTest, ATaskWaitsForTheContainerOnItsNodeThoughAnEarlierOneHasRoom) {
  WaitingList waiting(
      {{.task = 0, .node = "n2", .rack = "r1"}, {.task = 1, .node = "n3", .rack = "r2"}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r2", 1), Container("b", "n2", "r1", 1)}, &waiting),
              ElementsAre("0@b", "1@a"));
}

TEST(PlacementTest, PacksSeveralTasksIntoAContainerAsFarAsItsResourcesGo) {
  WaitingList waiting({{.task = 0}, {.task = 1}, {.task = 2}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 2)}, &waiting), ElementsAre("0@a", "1@a"));
  EXPECT_THAT(waiting.tasks(), SizeIs(1));
}

TEST(PlacementTest, ASmallerTaskTakesTheRoomThatALargerOneCannot) {
  WaitingList waiting({{.task = 0, .shape = {Cores(3), kHost}}, {.task = 1}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 2)}, &waiting), ElementsAre("1@a"));
}

TEST(PlacementTest, EveryKindOfResourceCounts) {
  ContainerShape gpu{Cores(1), kHost};
  gpu.resources.set_custom("gpu", 1);
  OpenContainer with_gpu = Container("b", "n1", "r1", 2);
  with_gpu.free.set_custom("gpu", 1);
  WaitingList waiting({{.task = 0, .shape = gpu}, {.task = 1, .shape = gpu}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 2), with_gpu}, &waiting), ElementsAre("0@b"));
}

TEST(PlacementTest, ContainersOfANodeShareItsStarts) {
  int starts_left = 3;
  OpenContainer a = Container("a", "n1", "r1", 2);
  OpenContainer b = Container("b", "n1", "r1", 2);
  a.starts_left = b.starts_left = &starts_left;
  WaitingList waiting({{.task = 0}, {.task = 1}, {.task = 2}, {.task = 3}, {.task = 4}});
  EXPECT_THAT(PlaceAll({a, b, Container("c", "n2", "r1", 1)}, &waiting),
              ElementsAre("0@a", "1@a", "2@b", "3@c"));
  EXPECT_EQ(starts_left, 0);
}

TEST(PlacementTest, ANodeWithoutStartsIsGivenNothing) {
  int starts_left = 0;
  OpenContainer a = Container("a", "n1", "r1", 2);
  a.starts_left = &starts_left;
  WaitingList waiting(std::vector<Waiting>{{.task = 0}});
  EXPECT_THAT(PlaceAll({a}, &waiting), IsEmpty());
  EXPECT_EQ(starts_left, 0);
}

TEST(PlacementTest, OnlyAnEmptyContainerChangesItsSystem) {
  OpenContainer busy = Container("busy", "n1", "r1", 2);
  busy.empty = false;
  WaitingList waiting(std::vector<Waiting>{{.task = 0, .shape = {Cores(1), kPython}}});
  EXPECT_THAT(PlaceAll({busy}, &waiting), IsEmpty());
  EXPECT_THAT(PlaceAll({busy, Container("empty", "n1", "r1", 2)}, &waiting),
              ElementsAre("0@empty"));
}

TEST(PlacementTest, TheFirstTaskInAnEmptyContainerSetsItsSystemForTheNext) {
  WaitingList waiting({{.task = 0, .shape = {Cores(1), kPython}},
                       {.task = 1, .shape = {Cores(1), kHost}},
                       {.task = 2, .shape = {Cores(1), kPython}}});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 9)}, &waiting), ElementsAre("0@a", "2@a"));
}

TEST(PlacementTest, ANetworkIsPartOfTheSystem) {
  const ContainerShape networked{Cores(1), {.image = "host", .network = v1::NETWORK_HOST}};
  OpenContainer container = Container("a", "n1", "r1", 2);
  EXPECT_TRUE(Fits(networked, container));
  container.empty = false;
  EXPECT_FALSE(Fits(networked, container));
}

TEST(PlacementTest, WithoutTasksOrContainersNothingIsPlaced) {
  WaitingList none(std::vector<Waiting>{});
  EXPECT_THAT(PlaceAll({Container("a", "n1", "r1", 2)}, &none), IsEmpty());
  WaitingList one(std::vector<Waiting>{{.task = 0}});
  EXPECT_THAT(PlaceAll({}, &one), IsEmpty());
}

}  // namespace
}  // namespace houtu::jobmanager
