// StageTable: what a job manager knows of the job's stages: their order, their records, and every
// finished task of every datacenter. Facts only; decisions are elsewhere.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "houtu/v1/record.pb.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// A finished task as some datacenter's record tells it.
struct FinishedFact {
  std::string datacenter;
  v1::FinishedTask task;
};

/// One stage. `spec` points into the job record of the StageTable's owner.
struct StageFacts {
  struct Edge {
    int stage = 0;
    v1::Exchange exchange = v1::EXCHANGE_SHUFFLE;
  };
  const v1::Stage* spec = nullptr;
  /// The stages it needs, in the job file's order.
  std::vector<Edge> needs;
  /// The stages that need it.
  std::vector<Edge> consumers;
  /// Its partitions are (part of) the job's result.
  bool output = false;
  /// Its place in an order in which every stage comes after those it needs.
  int rank = 0;
  /// State BLOCKED until it was released.
  v1::StageRecord record;
  /// By task; null: not finished. Empty until the stage was released.
  std::vector<std::unique_ptr<FinishedFact>> finished;
  int finished_count = 0;

  bool released() const { return record.state() != v1::STAGE_STATE_BLOCKED; }
  int tasks() const { return record.tasks(); }
  /// Released, and every task is finished.
  bool complete() const { return released() && finished_count == tasks(); }
};

/// Owner: JobManagerCore. Not thread-safe.
class StageTable {
 public:
  /// `job` must be valid (common/jobspec) and outlive the table.
  explicit StageTable(const v1::Job& job);

  int size() const { return static_cast<int>(stages_.size()); }
  const StageFacts& at(int stage) const { return stages_[stage]; }
  const std::string& name(int stage) const { return stages_[stage].spec->name(); }
  /// Stages by rank.
  const std::vector<int>& order() const { return order_; }
  /// -1: no such stage.
  int Find(std::string_view name) const;

  /// Whether the stage was released and has this task.
  bool Has(TaskRef ref) const;
  /// Null: not finished.
  const FinishedFact* Finished(TaskRef ref) const;

  /// Whether all that the task reads from other stages is there.
  bool InputsReady(TaskRef ref) const;

  /// The number of tasks as the job file gives it; -1: it depends on the inputs' listing.
  int PlannedTasks(int stage) const;

  /// How many numbered partitions the stage's consumers read: files "0" to "N - 1". 0: none of them
  /// is a shuffle; -1: not known before a consumer is released.
  int ShuffleWidth(int stage) const;
  /// Whether nothing but shuffles reads the stage's partitions: a file that is not one of the
  /// numbered ones would be lost silently.
  bool OnlyShuffled(int stage) const;

  /// Finished tasks whose partitions lie on the node.
  std::set<TaskRef> FinishedOn(const std::string& node) const;

  void SetRecord(int stage, const v1::StageRecord& record);
  /// False: it was finished already (the first wins), or the stage has no such task.
  bool AddFinished(TaskRef ref, std::string datacenter, v1::FinishedTask task);
  void RemoveFinished(TaskRef ref);

  /// The first task of the chunk behind `chunk`'s, at most the number of tasks.
  int ChunkEnd(int stage, int chunk) const;
  int ChunkBegin(int stage, int chunk) const;
  int ChunkOf(TaskRef ref) const;
  int Chunks(int stage) const;

 private:
  void Connect();
  void MarkOutputs(const v1::Job& job);
  void Order();

  std::vector<StageFacts> stages_;
  std::map<std::string, int, std::less<>> by_name_;
  std::vector<int> order_;
  std::map<std::string, std::set<TaskRef>> by_node_;
};

}  // namespace houtu::jobmanager
