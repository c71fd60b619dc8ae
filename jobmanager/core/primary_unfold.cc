// Primary: releasing stages and splitting their tasks over the datacenters.
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/primary.h"
#include "jobmanager/core/task_spec.h"

namespace houtu::jobmanager {
namespace {

// Above so many (task, upstream task) pairs the bytes of a shuffle are not looked at one by one.
constexpr int64_t kShufflePairsMax = 20'000'000;

}  // namespace

int TasksPerChunk(int tasks) {
  const int even = (tasks + kChunksWanted - 1) / kChunksWanted;
  return std::clamp(even, kChunkTasksMin, kChunkTasksMax);
}

Primary::Primary(const Parts& parts)
    : context_(*parts.context),
      stages_(*parts.stages),
      recorder_(*parts.recorder),
      events_(*parts.events),
      outbox_(*parts.outbox),
      assigned_(parts.stages->size()) {}

void Primary::Restore(const v1::JobStateRecord& state, absl::Time now) {
  state_ = state;
  if (state_.state() == v1::JOB_STATE_SUCCEEDED || state_.state() == v1::JOB_STATE_FAILED ||
      state_.state() == v1::JOB_STATE_CANCELLED) {
    return;
  }
  if (state_.state() != v1::JOB_STATE_CANCELLING && state_.state() != v1::JOB_STATE_RUNNING) {
    state_.set_state(v1::JOB_STATE_RUNNING);
    if (!state_.has_started_at()) {
      *state_.mutable_started_at() = ToProto(now);
    }
    recorder_.Mark(RecordKey::State());
  }
}

void Primary::RestoreAssignment(int stage, const std::string& datacenter,
                                const v1::AssignmentRecord& record) {
  Assigned& assigned = assigned_[stage];
  const int tasks = stages_.at(stage).tasks();
  assigned.datacenter.resize(tasks, -1);
  assigned.attempts_before.resize(tasks, 0);
  for (const v1::AssignedTask& task : record.tasks()) {
    if (task.task() < 0 || task.task() >= tasks) {
      continue;
    }
    assigned.datacenter[task.task()] = DatacenterIndex(datacenter);
    assigned.attempts_before[task.task()] = task.attempts_before();
    if (task.has_input()) {
      assigned.inputs.resize(tasks);
      assigned.inputs[task.task()] = task.input();
    }
  }
}

int Primary::DatacenterIndex(const std::string& datacenter) const {
  const auto& datacenters = context_.job.datacenters();
  const auto it = std::ranges::find(datacenters, datacenter);
  HOUTU_CHECK(it != datacenters.end(), "the datacenter takes part in the job: " + datacenter);
  return static_cast<int>(it - datacenters.begin());
}

void Primary::Tell(v1::JobEvent::Kind kind, int stage, std::string message, absl::Time now) {
  v1::JobEvent event;
  event.set_kind(kind);
  event.set_task(-1);
  if (stage >= 0) {
    event.set_stage(stages_.name(stage));
  }
  event.set_message(std::move(message));
  recorder_.Mark(events_.Add(now, std::move(event)));
}

void Primary::Unfold(absl::Time now) {
  if (ending()) {
    return;
  }
  bool all_succeeded = true;
  for (const int stage : stages_.order()) {
    Advance(stage, now);
    all_succeeded &= stages_.at(stage).record.state() == v1::STAGE_STATE_SUCCEEDED;
  }
  if (all_succeeded && !ending()) {
    FinishJob(now);
  }
}

void Primary::Advance(int stage, absl::Time now) {
  const StageFacts& facts = stages_.at(stage);
  if (!facts.released() && !listings_.contains(stage) && !ending()) {
    const bool ready = std::ranges::all_of(facts.needs, [&](const StageFacts::Edge& need) {
      return stages_.at(need.stage).record.state() == v1::STAGE_STATE_SUCCEEDED;
    });
    if (ready) {
      StartRelease(stage, now);
    }
  }
  if (facts.record.state() == v1::STAGE_STATE_RUNNING && facts.complete()) {
    Succeed(stage, now);
  }
}

void Primary::Succeed(int stage, absl::Time now) {
  v1::StageRecord record = stages_.at(stage).record;
  record.set_state(v1::STAGE_STATE_SUCCEEDED);
  *record.mutable_ended_at() = ToProto(now);
  stages_.SetRecord(stage, record);
  MarkStage(stage);
  Tell(v1::JobEvent::KIND_STAGE_FINISHED, stage, fmt::format("{} tasks finished", record.tasks()),
       now);
}

void Primary::MarkStage(int stage) { recorder_.Mark(RecordKey::Stage(stage)); }

void Primary::StartRelease(int stage, absl::Time now) {
  const StageFacts& facts = stages_.at(stage);
  if (facts.spec->inputs_size() == 0) {
    Release(stage, stages_.PlannedTasks(stage), {}, now);
    return;
  }
  Listing& listing = listings_[stage];
  for (const v1::Input& input : facts.spec->inputs()) {
    listing.asked.insert(input.datacenter());
  }
  const std::set<std::string> datacenters = listing.asked;
  for (const std::string& datacenter : datacenters) {
    List(stage, datacenter);
  }
}

// What only the listing of inputs can tell: the counts that the job file's checks can't see.
absl::Status Primary::CheckCounts(int stage, int tasks) const {
  for (const StageFacts::Edge& need : stages_.at(stage).needs) {
    const StageFacts& upstream = stages_.at(need.stage);
    if (need.exchange == v1::EXCHANGE_ONE_TO_ONE && upstream.tasks() != tasks) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "stage {} has {} tasks and stage {} has {}: exchange one_to_one needs equal "
                   "numbers",
                   stages_.name(stage), tasks, stages_.name(need.stage), upstream.tasks());
    }
    if (need.exchange != v1::EXCHANGE_SHUFFLE || !stages_.OnlyShuffled(need.stage) ||
        upstream.consumers.size() > 1) {
      continue;
    }
    for (int task = 0; task < upstream.tasks(); ++task) {
      const FinishedFact* fact = stages_.Finished({need.stage, task});
      if (fact != nullptr && fact->task.numbered_size_plus_one_size() > tasks) {
        return Error(
            absl::StatusCode::kFailedPrecondition,
            "task {} of stage {} wrote the file \"{}\", but stage {} has {} tasks: nothing "
            "would read it",
            task, stages_.name(need.stage), fact->task.numbered_size_plus_one_size() - 1,
            stages_.name(stage), tasks);
      }
    }
  }
  return absl::OkStatus();
}

void Primary::Release(int stage, int tasks, std::vector<v1::RawInput> inputs, absl::Time now) {
  if (const absl::Status counts = CheckCounts(stage, tasks); !counts.ok()) {
    End(v1::JOB_STATE_FAILED, Message(counts), now);
    return;
  }
  Assigned& assigned = assigned_[stage];
  assigned.datacenter =
      AssignTasks(BytesFor(stage, tasks, inputs), DatacenterIndex(context_.datacenter));
  assigned.attempts_before.assign(tasks, 0);
  assigned.inputs = std::move(inputs);
  v1::StageRecord record;
  record.set_state(v1::STAGE_STATE_RUNNING);
  record.set_tasks(tasks);
  record.set_tasks_per_chunk(TasksPerChunk(tasks));
  *record.mutable_released_at() = ToProto(now);
  stages_.SetRecord(stage, record);
  MarkStage(stage);
  for (int chunk = 0; chunk < stages_.Chunks(stage); ++chunk) {
    std::set<int> present;
    for (int i = stages_.ChunkBegin(stage, chunk); i < stages_.ChunkEnd(stage, chunk); ++i) {
      present.insert(assigned.datacenter[i]);
    }
    for (const int datacenter : present) {
      MarkAssignment(stage, datacenter, chunk);
    }
  }
  Tell(v1::JobEvent::KIND_STAGE_RELEASED, stage, fmt::format("{} tasks", tasks), now);
}

void Primary::MarkAssignment(int stage, int datacenter, int chunk) {
  const std::string& name = context_.job.datacenters(datacenter);
  const RecordKey key = RecordKey::Assignment(stage, name, chunk);
  if (name == context_.datacenter) {
    recorder_.MarkThen(key, AssignmentRecorded{stage, chunk});
  } else {
    recorder_.Mark(key);
  }
}

v1::AssignmentRecord Primary::AssignmentRecordOf(int stage, const std::string& datacenter,
                                                 int chunk) const {
  const Assigned& assigned = assigned_[stage];
  const int index = DatacenterIndex(datacenter);
  v1::AssignmentRecord record;
  for (int i = stages_.ChunkBegin(stage, chunk); i < stages_.ChunkEnd(stage, chunk); ++i) {
    if (assigned.datacenter[i] != index) {
      continue;
    }
    v1::AssignedTask* task = record.add_tasks();
    task->set_task(i);
    task->set_attempts_before(assigned.attempts_before[i]);
    if (!assigned.inputs.empty()) {
      *task->mutable_input() = assigned.inputs[i];
    }
  }
  return record;
}

// ---- Where a stage's input lies --------------------------------------------------------------

InputBytes Primary::BytesFor(int stage, int tasks, const std::vector<v1::RawInput>& inputs) const {
  InputBytes bytes;
  bytes.tasks = tasks;
  bytes.datacenters = context_.job.datacenters_size();
  for (const v1::RawInput& input : inputs) {
    bytes.pinned.push_back(DatacenterIndex(input.datacenter()));
  }
  if (!inputs.empty()) {
    return bytes;
  }
  PinToUpstream(stage, &bytes);
  if (bytes.pinned.empty()) {
    bytes.common.assign(bytes.datacenters, 0);
    for (const StageFacts::Edge& need : stages_.at(stage).needs) {
      AddBytes(need, &bytes);
    }
  }
  return bytes;
}

void Primary::PinToUpstream(int stage, InputBytes* bytes) const {
  std::vector<int64_t> most(bytes->tasks, -1);
  for (const StageFacts::Edge& need : stages_.at(stage).needs) {
    if (need.exchange != v1::EXCHANGE_ONE_TO_ONE) {
      continue;
    }
    bytes->pinned.resize(bytes->tasks, -1);
    for (int task = 0; task < bytes->tasks; ++task) {
      const FinishedFact* fact = stages_.Finished({need.stage, task});
      if (fact != nullptr && OutputBytes(fact->task) > most[task]) {
        most[task] = OutputBytes(fact->task);
        bytes->pinned[task] = DatacenterIndex(fact->datacenter);
      }
    }
  }
}

void Primary::AddBytes(const StageFacts::Edge& need, InputBytes* bytes) const {
  const StageFacts& upstream = stages_.at(need.stage);
  const bool by_task = need.exchange == v1::EXCHANGE_SHUFFLE &&
                       int64_t{upstream.tasks()} * bytes->tasks <= kShufflePairsMax;
  if (by_task) {
    bytes->own.resize(bytes->tasks, std::vector<int64_t>(bytes->datacenters, 0));
  }
  for (int task = 0; task < upstream.tasks(); ++task) {
    const FinishedFact* fact = stages_.Finished({need.stage, task});
    if (fact == nullptr) {
      continue;
    }
    const int datacenter = DatacenterIndex(fact->datacenter);
    if (!by_task) {
      bytes->common[datacenter] += OutputBytes(fact->task);
      continue;
    }
    const int numbered = std::min(bytes->tasks, fact->task.numbered_size_plus_one_size());
    for (int number = 0; number < numbered; ++number) {
      bytes->own[number][datacenter] += std::max<int64_t>(0, NumberedSize(fact->task, number));
    }
  }
}

}  // namespace houtu::jobmanager
