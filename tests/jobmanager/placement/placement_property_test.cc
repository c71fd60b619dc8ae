// Place, whatever waits and whatever is open.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "jobmanager/placement/placement.h"
#include "tests/jobmanager/placement/waiting_list.h"

namespace houtu::jobmanager {
namespace {

std::string RackOf(const std::string& node) { return node < "n3" ? "r1" : "r2"; }

std::string AnyNode() { return *rc::gen::element<std::string>("n1", "n2", "n3", "n4"); }

ContainerSystem AnySystem() { return *rc::gen::element(kHost, kPython); }

std::vector<OpenContainer> AnyContainers(std::map<std::string, int>* starts_left) {
  std::vector<OpenContainer> containers;
  const int count = *rc::gen::inRange(0, 7);
  for (int i = 0; i < count; ++i) {
    const std::string node = AnyNode();
    containers.push_back(
        Container("l" + std::to_string(i), node, RackOf(node), *rc::gen::inRange(0, 5)));
    containers.back().system = AnySystem();
    containers.back().empty = *rc::gen::arbitrary<bool>();
    if (*rc::gen::inRange(0, 4) > 0) {
      const int starts = *rc::gen::inRange(0, 5);
      containers.back().starts_left = &starts_left->try_emplace(node, starts).first->second;
    }
  }
  return containers;
}

std::vector<Waiting> AnyTasks() {
  std::vector<Waiting> tasks;
  const int count = *rc::gen::inRange(0, 16);
  for (int i = 0; i < count; ++i) {
    Waiting waiting{.task = i, .shape = {Cores(*rc::gen::inRange(1, 4)), AnySystem()}};
    if (*rc::gen::inRange(0, 4) > 0) {
      waiting.node = AnyNode();
      waiting.rack = RackOf(waiting.node);
    }
    tasks.push_back(waiting);
  }
  return tasks;
}

/// Does again what Place says that it did, one task at a time, and judges each.
class Replay {
 public:
  Replay(std::vector<OpenContainer> containers, std::vector<Waiting> tasks,
         std::map<std::string, int>* starts_left)
      : containers_(std::move(containers)), tasks_(std::move(tasks)) {
    for (OpenContainer& container : containers_) {
      if (container.starts_left != nullptr) {
        container.starts_left = &starts_left->at(container.node);
      }
    }
  }

  // How near the nearest task is to a container that can take it; none: nothing fits any more.
  std::optional<Nearness> Nearest() const {
    std::optional<Nearness> best;
    for (const OpenContainer& container : containers_) {
      for (const Waiting& waiting : tasks_) {
        const Nearness nearness = WaitingList::NearnessOf(waiting, container);
        if (CanTake(container, waiting) && nearness <= best.value_or(nearness)) {
          best = nearness;
        }
      }
    }
    return best;
  }

  void Apply(const Placed& placed) {
    const auto container = std::ranges::find(containers_, placed.lease, &OpenContainer::lease);
    const auto waiting = std::ranges::find(tasks_, placed.task.task, &Waiting::task);
    RC_ASSERT(container != containers_.end());
    RC_ASSERT(waiting != tasks_.end());  // it waits, so it was not placed before
    RC_ASSERT(CanTake(*container, *waiting));
    RC_ASSERT(WaitingList::NearnessOf(*waiting, *container) == Nearest());
    container->free -= waiting->shape.resources;
    container->system = waiting->shape.system;
    container->empty = false;
    if (container->starts_left != nullptr) {
      --*container->starts_left;
    }
    tasks_.erase(waiting);
  }

  size_t waiting() const { return tasks_.size(); }

 private:
  static bool CanTake(const OpenContainer& container, const Waiting& waiting) {
    return (container.starts_left == nullptr || *container.starts_left > 0) &&
           (container.empty || container.system == waiting.shape.system) &&
           waiting.shape.resources.FitsIn(container.free);
  }

  std::vector<OpenContainer> containers_;
  std::vector<Waiting> tasks_;
};

TEST(PlacementPropertyTest, EachTaskIsPlacedOnceAsNearAsItGoesAndNothingThatFitsIsLeft) {
  EXPECT_TRUE(rc::check([] {
    std::map<std::string, int> starts_left;
    const std::vector<OpenContainer> containers = AnyContainers(&starts_left);
    const std::vector<Waiting> tasks = AnyTasks();
    std::map<std::string, int> replayed_starts = starts_left;
    Replay replay(containers, tasks, &replayed_starts);
    WaitingList waiting(tasks);
    for (const Placed& placed : Place(containers, &waiting)) {
      replay.Apply(placed);
    }
    RC_ASSERT(!replay.Nearest().has_value());
    RC_ASSERT(!waiting.taken_twice());
    RC_ASSERT(waiting.tasks().size() == replay.waiting());
    RC_ASSERT(starts_left == replayed_starts);
  }));
}

}  // namespace
}  // namespace houtu::jobmanager
