// TaskQueue: this datacenter's tasks that could run now and have no container yet, found by shape
// and by the node that they would like best.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// Owner: SubJob. Not thread-safe. Tasks of a lower rank come first, then lower stages and numbers.
/// Every operation takes logarithmic time.
class TaskQueue {
 public:
  struct Entry {
    /// The number of its shape in the owner's table.
    int shape = 0;
    /// Its stage's rank.
    int rank = 0;
    /// The node that holds what it reads; empty: none in particular.
    std::string node;
  };

  /// Precondition: the task is not in the queue.
  void Add(TaskRef ref, Entry entry);
  /// False: it was not there.
  bool Remove(TaskRef ref);

  bool Contains(TaskRef ref) const { return entries_.contains(ref); }
  bool empty() const { return entries_.empty(); }
  int size() const { return static_cast<int>(entries_.size()); }

  /// The first task of a shape, with its rank.
  std::optional<std::pair<int, TaskRef>> First(int shape) const;
  /// The first task of a shape that would like to run on the node.
  std::optional<std::pair<int, TaskRef>> FirstOn(int shape, const std::string& node) const;

  /// Tasks of a shape, and how many of them would like which node.
  int Count(int shape) const;
  std::map<std::string, int> CountByNode(int shape) const;
  /// The stage of the first task of a shape; -1: none.
  int FirstStage(int shape) const;

 private:
  using Ordered = std::set<std::pair<int, TaskRef>>;
  struct OfShape {
    Ordered all;
    std::map<std::string, Ordered> by_node;
  };
  std::map<TaskRef, Entry> entries_;
  std::map<int, OfShape> shapes_;
};

}  // namespace houtu::jobmanager
