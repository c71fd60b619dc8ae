// Waiting tasks and open containers to be described in a line each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobmanager/placement/placement.h"

namespace houtu::jobmanager {

inline const ContainerSystem kHost{.image = "host", .network = v1::NETWORK_NONE};
inline const ContainerSystem kPython{.image = "python", .network = v1::NETWORK_NONE};

inline Resources Cores(int count) { return {int64_t{1000} * count, (int64_t{64} << 20) * count}; }

/// A waiting task and where it would like to run.
struct Waiting {
  int task = 0;
  std::string node;
  std::string rack;
  ContainerShape shape{Cores(1), kHost};
};

/// The waiting tasks in their order, found by looking at each.
class WaitingList : public WaitingTasks {
 public:
  explicit WaitingList(std::vector<Waiting> tasks) : tasks_(std::move(tasks)) {}

  std::optional<Candidate> First(const OpenContainer& container, Nearness nearness) override {
    for (const Waiting& waiting : tasks_) {
      if (Fits(waiting.shape, container) && NearnessOf(waiting, container) <= nearness) {
        return Candidate{{0, waiting.task}, waiting.shape};
      }
    }
    return std::nullopt;
  }
  void Take(TaskRef task) override {
    taken_twice_ |= std::erase_if(tasks_, [&](const Waiting& waiting) {
                      return waiting.task == task.task;
                    }) != 1;
  }

  static Nearness NearnessOf(const Waiting& waiting, const OpenContainer& container) {
    return waiting.node == container.node   ? Nearness::kNode
           : waiting.rack == container.rack ? Nearness::kRack
                                            : Nearness::kAny;
  }

  const std::vector<Waiting>& tasks() const { return tasks_; }
  bool taken_twice() const { return taken_twice_; }

 private:
  std::vector<Waiting> tasks_;
  bool taken_twice_ = false;
};

inline OpenContainer Container(const std::string& lease, const std::string& node,
                               const std::string& rack, int cores) {
  return {.lease = lease,
          .node = node,
          .rack = rack,
          .free = Cores(cores),
          .system = kHost,
          .empty = true,
          .starts_left = nullptr};
}

}  // namespace houtu::jobmanager
