// Primary: lineage. Finished tasks whose partitions are lost are run again, just those needed.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "jobmanager/core/primary.h"

namespace houtu::jobmanager {

bool Primary::Spent(TaskRef ref, int attempt) const {
  const std::vector<int>& before = assigned_[ref.stage].attempts_before;
  return ref.task < static_cast<int>(before.size()) && attempt <= before[ref.task];
}

bool Primary::Needed(TaskRef ref) const {
  const StageFacts& facts = stages_.at(ref.stage);
  return facts.output || std::ranges::any_of(facts.consumers, [&](const StageFacts::Edge& edge) {
           const StageFacts& consumer = stages_.at(edge.stage);
           if (consumer.released() && edge.exchange == v1::EXCHANGE_ONE_TO_ONE) {
             return stages_.Finished({edge.stage, ref.task}) == nullptr;
           }
           return !consumer.complete();
         });
}

std::vector<TaskRef> Primary::Reopen(const std::vector<v1::LostPartition>& lost, absl::Time now) {
  // Consumers first: where one of them is opened again, what it reads is needed again.
  std::vector<std::pair<int, const v1::LostPartition*>> by_rank;
  for (const v1::LostPartition& partition : lost) {
    if (const int stage = stages_.Find(partition.stage()); stage >= 0) {
      by_rank.emplace_back(stages_.at(stage).rank, &partition);
    }
  }
  std::ranges::sort(by_rank, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->task() < b.second->task();
  });
  std::vector<TaskRef> opened;
  for (const auto& [rank, partition] : by_rank) {
    const TaskRef ref{stages_.Find(partition->stage()), partition->task()};
    const FinishedFact* finished = stages_.Finished(ref);
    if (ending() || finished == nullptr || finished->task.attempt() != partition->attempt() ||
        !Needed(ref)) {
      continue;
    }
    const std::string datacenter = finished->datacenter;
    Assigned& assigned = assigned_[ref.stage];
    assigned.attempts_before[ref.task] =
        std::max(assigned.attempts_before[ref.task], partition->attempt());
    stages_.RemoveFinished(ref);
    v1::StageRecord record = stages_.at(ref.stage).record;
    record.set_state(v1::STAGE_STATE_RUNNING);
    record.clear_ended_at();
    record.set_generation(record.generation() + 1);
    stages_.SetRecord(ref.stage, record);
    MarkStage(ref.stage);
    MarkAssignment(ref.stage, DatacenterIndex(datacenter), stages_.ChunkOf(ref));
    Tell(v1::JobEvent::KIND_PARTITION_LOST, ref.stage,
         fmt::format("task {}: its output on node {} is lost and runs again", ref.task,
                     partition->node()),
         now);
    opened.push_back(ref);
  }
  return opened;
}

}  // namespace houtu::jobmanager
