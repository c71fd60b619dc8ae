#include "jobmanager/core/task_queue.h"

#include "common/base/check.h"

namespace houtu::jobmanager {

void TaskQueue::Add(TaskRef ref, Entry entry) {
  OfShape& of_shape = shapes_[entry.shape];
  const std::pair<int, TaskRef> key(entry.rank, ref);
  of_shape.all.insert(key);
  if (!entry.node.empty()) {
    of_shape.by_node[entry.node].insert(key);
  }
  HOUTU_CHECK(entries_.emplace(ref, std::move(entry)).second, "a task waits once");
}

bool TaskQueue::Remove(TaskRef ref) {
  const auto it = entries_.find(ref);
  if (it == entries_.end()) {
    return false;
  }
  OfShape& of_shape = shapes_[it->second.shape];
  const std::pair<int, TaskRef> key(it->second.rank, ref);
  of_shape.all.erase(key);
  if (const auto on_node = of_shape.by_node.find(it->second.node);
      on_node != of_shape.by_node.end()) {
    on_node->second.erase(key);
    if (on_node->second.empty()) {
      of_shape.by_node.erase(on_node);
    }
  }
  entries_.erase(it);
  return true;
}

std::optional<std::pair<int, TaskRef>> TaskQueue::First(int shape) const {
  const auto it = shapes_.find(shape);
  if (it == shapes_.end() || it->second.all.empty()) {
    return std::nullopt;
  }
  return *it->second.all.begin();
}

std::optional<std::pair<int, TaskRef>> TaskQueue::FirstOn(int shape,
                                                          const std::string& node) const {
  const auto it = shapes_.find(shape);
  if (it == shapes_.end()) {
    return std::nullopt;
  }
  const auto on_node = it->second.by_node.find(node);
  if (on_node == it->second.by_node.end()) {
    return std::nullopt;
  }
  return *on_node->second.begin();
}

int TaskQueue::Count(int shape) const {
  const auto it = shapes_.find(shape);
  return it == shapes_.end() ? 0 : static_cast<int>(it->second.all.size());
}

std::map<std::string, int> TaskQueue::CountByNode(int shape) const {
  std::map<std::string, int> counts;
  if (const auto it = shapes_.find(shape); it != shapes_.end()) {
    for (const auto& [node, tasks] : it->second.by_node) {
      counts[node] = static_cast<int>(tasks.size());
    }
  }
  return counts;
}

int TaskQueue::FirstStage(int shape) const {
  const auto first = First(shape);
  return first.has_value() ? first->second.stage : -1;
}

}  // namespace houtu::jobmanager
