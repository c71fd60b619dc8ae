// The graph of a job's stages. Stages are numbered as in the job.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "houtu/v1/job.pb.h"

namespace houtu::jobspec {

class Dag {
 public:
  /// Edges of unknown stages are left out; of two stages of one name the first counts.
  explicit Dag(const v1::Job& job);

  int size() const { return static_cast<int>(needs_.size()); }

  /// The stage of that name; -1: none.
  int Find(std::string_view name) const;

  /// The stages that `stage` needs, in the job's order, each once.
  const std::vector<int>& needs(int stage) const { return needs_[static_cast<size_t>(stage)]; }

  /// The stages that need `stage`, in the job's order.
  const std::vector<int>& consumers(int stage) const {
    return consumers_[static_cast<size_t>(stage)];
  }

  /// All stages, each after those that it needs; the job's order where that leaves a choice.
  /// Stages in or behind a circle are missing.
  std::vector<int> Order() const;

  /// One circle of each group of stages that need each other: its stages, each needing the next,
  /// the last needing the first (C06). A circle starts with the stage that the job names first.
  std::vector<std::vector<int>> Circles() const;

 private:
  std::vector<int> CircleThrough(int start, const std::vector<bool>& excluded) const;

  std::map<std::string, int, std::less<>> by_name_;
  std::vector<std::vector<int>> needs_;
  std::vector<std::vector<int>> consumers_;
};

}  // namespace houtu::jobspec
