#include "common/jobspec/dag.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace houtu::jobspec {

Dag::Dag(const v1::Job& job)
    : needs_(static_cast<size_t>(job.stages_size())),
      consumers_(static_cast<size_t>(job.stages_size())) {
  for (int i = 0; i < job.stages_size(); ++i) {
    by_name_.emplace(job.stages(i).name(), i);
  }
  for (int i = 0; i < job.stages_size(); ++i) {
    std::vector<int>& needs = needs_[static_cast<size_t>(i)];
    for (const v1::Need& need : job.stages(i).needs()) {
      if (const int needed = Find(need.stage()); needed >= 0) {
        needs.push_back(needed);
      }
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    for (const int needed : needs) {
      consumers_[static_cast<size_t>(needed)].push_back(i);
    }
  }
}

int Dag::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

std::vector<int> Dag::Order() const {
  std::vector<size_t> missing(needs_.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int stage = 0; stage < size(); ++stage) {
    missing[static_cast<size_t>(stage)] = needs(stage).size();
    if (needs(stage).empty()) {
      ready.push(stage);
    }
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int stage = ready.top();
    ready.pop();
    order.push_back(stage);
    for (const int consumer : consumers(stage)) {
      if (--missing[static_cast<size_t>(consumer)] == 0) {
        ready.push(consumer);
      }
    }
  }
  return order;
}

// Breadth first along needs: the shortest way from `start` back to itself; empty: there is none.
std::vector<int> Dag::CircleThrough(int start, const std::vector<bool>& excluded) const {
  std::vector<int> came_from(needs_.size(), -1);
  std::queue<int> reached;
  reached.push(start);
  while (!reached.empty()) {
    const int stage = reached.front();
    reached.pop();
    for (const int needed : needs(stage)) {
      if (needed == start) {
        std::vector<int> circle;
        for (int at = stage; at != start; at = came_from[static_cast<size_t>(at)]) {
          circle.push_back(at);
        }
        circle.push_back(start);
        std::reverse(circle.begin(), circle.end());
        return circle;
      }
      if (!excluded[static_cast<size_t>(needed)] && came_from[static_cast<size_t>(needed)] < 0) {
        came_from[static_cast<size_t>(needed)] = stage;
        reached.push(needed);
      }
    }
  }
  return {};
}

std::vector<std::vector<int>> Dag::Circles() const {
  // Only stages that Order leaves out can be in a circle. Stages of a circle that was told are not
  // looked through again: mending that one may mend what hangs on it.
  std::vector<bool> excluded(needs_.size(), false);
  for (const int stage : Order()) {
    excluded[static_cast<size_t>(stage)] = true;
  }
  std::vector<std::vector<int>> circles;
  for (int stage = 0; stage < size(); ++stage) {
    if (excluded[static_cast<size_t>(stage)]) {
      continue;
    }
    std::vector<int> circle = CircleThrough(stage, excluded);
    for (const int member : circle) {
      excluded[static_cast<size_t>(member)] = true;
    }
    excluded[static_cast<size_t>(stage)] = true;
    if (!circle.empty()) {
      circles.push_back(std::move(circle));
    }
  }
  return circles;
}

}  // namespace houtu::jobspec
