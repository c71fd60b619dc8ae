#include "jobmanager/core/stage_table.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace houtu::jobmanager {
namespace {

v1::Exchange Effective(v1::Exchange exchange) {
  return exchange == v1::EXCHANGE_UNSPECIFIED ? v1::EXCHANGE_SHUFFLE : exchange;
}

}  // namespace

StageTable::StageTable(const v1::Job& job) : stages_(job.stages_size()) {
  for (int i = 0; i < job.stages_size(); ++i) {
    stages_[i].spec = &job.stages(i);
    stages_[i].record.set_state(v1::STAGE_STATE_BLOCKED);
    by_name_[job.stages(i).name()] = i;
  }
  Connect();
  MarkOutputs(job);
  Order();
}

void StageTable::Connect() {
  for (int i = 0; i < size(); ++i) {
    for (const v1::Need& need : stages_[i].spec->needs()) {
      const int upstream = Find(need.stage());
      HOUTU_CHECK(upstream >= 0, "a recorded job needs no unknown stage: " + need.stage());
      const v1::Exchange exchange = Effective(need.exchange());
      stages_[i].needs.push_back({upstream, exchange});
      stages_[upstream].consumers.push_back({i, exchange});
    }
  }
}

void StageTable::MarkOutputs(const v1::Job& job) {
  for (StageFacts& stage : stages_) {
    stage.output =
        job.has_output() ? job.output().stage() == stage.spec->name() : stage.consumers.empty();
  }
}

void StageTable::Order() {
  std::vector<int> missing(size());
  for (int i = 0; i < size(); ++i) {
    missing[i] = static_cast<int>(stages_[i].needs.size());
    if (missing[i] == 0) {
      order_.push_back(i);
    }
  }
  for (size_t next = 0; next < order_.size(); ++next) {
    stages_[order_[next]].rank = static_cast<int>(next);
    for (const StageFacts::Edge& edge : stages_[order_[next]].consumers) {
      if (--missing[edge.stage] == 0) {
        order_.push_back(edge.stage);
      }
    }
  }
  HOUTU_CHECK(static_cast<int>(order_.size()) == size(), "a recorded job's stages have no circle");
}

int StageTable::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

bool StageTable::Has(TaskRef ref) const {
  return ref.stage >= 0 && ref.stage < size() && ref.task >= 0 &&
         ref.task < static_cast<int>(stages_[ref.stage].finished.size());
}

const FinishedFact* StageTable::Finished(TaskRef ref) const {
  return Has(ref) ? stages_[ref.stage].finished[ref.task].get() : nullptr;
}

bool StageTable::InputsReady(TaskRef ref) const {
  return std::ranges::all_of(stages_[ref.stage].needs, [&](const StageFacts::Edge& need) {
    return need.exchange == v1::EXCHANGE_ONE_TO_ONE ? Finished({need.stage, ref.task}) != nullptr
                                                    : stages_[need.stage].complete();
  });
}

int StageTable::PlannedTasks(int stage) const {
  const StageFacts& facts = stages_[stage];
  if (facts.released()) {
    return facts.tasks();
  }
  if (facts.spec->inputs_size() > 0) {
    return -1;
  }
  if (facts.spec->has_tasks()) {
    return facts.spec->tasks();
  }
  for (const StageFacts::Edge& need : facts.needs) {
    if (need.exchange == v1::EXCHANGE_ONE_TO_ONE) {
      return PlannedTasks(need.stage);
    }
  }
  return 1;
}

int StageTable::ShuffleWidth(int stage) const {
  int width = 0;
  for (const StageFacts::Edge& consumer : stages_[stage].consumers) {
    if (consumer.exchange == v1::EXCHANGE_SHUFFLE) {
      const int tasks = PlannedTasks(consumer.stage);
      if (tasks < 0) {
        return -1;
      }
      width = std::max(width, tasks);
    }
  }
  return width;
}

bool StageTable::OnlyShuffled(int stage) const {
  const StageFacts& facts = stages_[stage];
  return !facts.output && !facts.consumers.empty() &&
         std::ranges::all_of(facts.consumers, [](const StageFacts::Edge& edge) {
           return edge.exchange == v1::EXCHANGE_SHUFFLE;
         });
}

std::set<TaskRef> StageTable::FinishedOn(const std::string& node) const {
  const auto it = by_node_.find(node);
  return it == by_node_.end() ? std::set<TaskRef>() : it->second;
}

void StageTable::SetRecord(int stage, const v1::StageRecord& record) {
  StageFacts& facts = stages_[stage];
  facts.record = record;
  if (static_cast<int>(facts.finished.size()) < record.tasks()) {
    facts.finished.resize(record.tasks());
  }
}

bool StageTable::AddFinished(TaskRef ref, std::string datacenter, v1::FinishedTask task) {
  if (!Has(ref) || stages_[ref.stage].finished[ref.task] != nullptr) {
    return false;
  }
  by_node_[task.node()].insert(ref);
  stages_[ref.stage].finished[ref.task] =
      std::make_unique<FinishedFact>(FinishedFact{std::move(datacenter), std::move(task)});
  ++stages_[ref.stage].finished_count;
  return true;
}

void StageTable::RemoveFinished(TaskRef ref) {
  HOUTU_CHECK(Finished(ref) != nullptr, "only a finished task is opened again");
  std::unique_ptr<FinishedFact>& fact = stages_[ref.stage].finished[ref.task];
  by_node_[fact->task.node()].erase(ref);
  fact.reset();
  --stages_[ref.stage].finished_count;
}

int StageTable::ChunkBegin(int stage, int chunk) const {
  return std::min(stages_[stage].tasks(), chunk * stages_[stage].record.tasks_per_chunk());
}

int StageTable::ChunkEnd(int stage, int chunk) const { return ChunkBegin(stage, chunk + 1); }

int StageTable::ChunkOf(TaskRef ref) const {
  return ref.task / std::max(1, stages_[ref.stage].record.tasks_per_chunk());
}

int StageTable::Chunks(int stage) const {
  const int per_chunk = std::max(1, stages_[stage].record.tasks_per_chunk());
  return (stages_[stage].tasks() + per_chunk - 1) / per_chunk;
}

}  // namespace houtu::jobmanager
