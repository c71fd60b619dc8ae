#include "jobmanager/core/sub_job.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/check.h"
#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {

SubJob::SubJob(const Parts& parts)
    : context_(*parts.context),
      stages_(*parts.stages),
      recorder_(*parts.recorder),
      events_(*parts.events),
      outbox_(*parts.outbox),
      tasks_(parts.stages->size()),
      counts_(parts.stages->size()),
      held_(parts.stages->size()),
      settled_(parts.context->term == 1) {
  for (int stage = 0; stage < stages_.size(); ++stage) {
    const ContainerShape shape = ShapeOf(context_.job.job(), *stages_.at(stage).spec);
    auto it = std::ranges::find(shapes_, shape);
    if (it == shapes_.end()) {
      it = shapes_.insert(it, shape);
    }
    shape_of_.push_back(static_cast<int>(it - shapes_.begin()));
  }
}

bool SubJob::IsOwn(TaskRef ref) const {
  return ref.stage >= 0 && ref.stage < stages_.size() && ref.task >= 0 &&
         ref.task < static_cast<int>(tasks_[ref.stage].size()) &&
         Own(ref).phase != OwnTask::Phase::kUnassigned;
}

void SubJob::Leave(TaskRef ref, OwnTask::Phase phase) {
  OwnCounts& counts = counts_[ref.stage];
  switch (phase) {
    case OwnTask::Phase::kUnassigned:
      ++counts.assigned;
      break;
    case OwnTask::Phase::kHeld:
      held_[ref.stage].erase(ref.task);
      break;
    case OwnTask::Phase::kWaiting:
      queue_.Remove(ref);
      break;
    case OwnTask::Phase::kPaused:
      paused_.erase({Own(ref).paused_until, ref});
      break;
    case OwnTask::Phase::kStarted:
      --counts.started;
      started_.erase(ref);
      break;
    case OwnTask::Phase::kEnding:
      --counts.ending;
      break;
    case OwnTask::Phase::kFinished:
      --counts.finished;
      break;
  }
}

void SubJob::Enter(TaskRef ref, OwnTask::Phase phase) {
  OwnCounts& counts = counts_[ref.stage];
  switch (phase) {
    case OwnTask::Phase::kUnassigned:
      --counts.assigned;
      break;
    case OwnTask::Phase::kHeld:
      held_[ref.stage].insert(ref.task);
      break;
    case OwnTask::Phase::kWaiting:
      queue_.Add(ref, {.shape = shape_of_[ref.stage],
                       .rank = stages_.at(ref.stage).rank,
                       .node = PreferredNode(ref)});
      more_waits_ = true;
      break;
    case OwnTask::Phase::kPaused:
      paused_.emplace(Own(ref).paused_until, ref);
      break;
    case OwnTask::Phase::kStarted:
      ++counts.started;
      started_.insert(ref);
      break;
    case OwnTask::Phase::kEnding:
      ++counts.ending;
      break;
    case OwnTask::Phase::kFinished:
      ++counts.finished;
      break;
  }
}

void SubJob::SetPhase(TaskRef ref, OwnTask::Phase phase) {
  OwnTask& task = Own(ref);
  Leave(ref, task.phase);
  task.phase = phase;
  Enter(ref, phase);
}

std::vector<TaskRef> SubJob::Assign(int stage, const v1::AssignmentRecord& record, absl::Time now) {
  if (static_cast<int>(tasks_[stage].size()) < stages_.at(stage).tasks()) {
    tasks_[stage].resize(stages_.at(stage).tasks());
  }
  std::vector<TaskRef> reopened;
  for (const v1::AssignedTask& assigned : record.tasks()) {
    const TaskRef ref{stage, assigned.task()};
    if (!stages_.Has(ref)) {
      continue;
    }
    AssignOne(stage, assigned, now);
    const FinishedFact* finished = stages_.Finished(ref);
    const bool spent = finished != nullptr && finished->datacenter == context_.datacenter &&
                       finished->task.attempt() <= assigned.attempts_before();
    // Where this manager is the primary, it took the result out of the table when it was lost.
    const bool taken_out = finished == nullptr && Own(ref).phase == OwnTask::Phase::kFinished;
    if (spent || taken_out) {
      reopened.push_back(ref);
    }
  }
  return reopened;
}

void SubJob::AssignOne(int stage, const v1::AssignedTask& assigned, absl::Time now) {
  const TaskRef ref{stage, assigned.task()};
  OwnTask& task = Own(ref);
  task.last_attempt = std::max(task.last_attempt, assigned.attempts_before());
  if (task.phase != OwnTask::Phase::kUnassigned) {
    return;
  }
  task.settled_attempt = std::max(task.settled_attempt, assigned.attempts_before());
  if (assigned.has_input()) {
    task.input = std::make_unique<v1::RawInput>(assigned.input());
  }
  if (const FinishedFact* finished = stages_.Finished(ref); finished != nullptr) {
    task.last_attempt = std::max(task.last_attempt, finished->task.attempt());
    task.settled_attempt = std::max(task.settled_attempt, finished->task.attempt());
    SetPhase(ref, OwnTask::Phase::kFinished);
    return;
  }
  SetPhase(ref, OwnTask::Phase::kHeld);
  Consider(ref, now);
}

void SubJob::Reopened(TaskRef ref, absl::Time now) {
  OwnTask& task = Own(ref);
  HOUTU_CHECK(task.phase == OwnTask::Phase::kFinished, "only a finished task is opened again");
  recorder_.Mark(RecordKey::Finished(ref.stage, stages_.ChunkOf(ref)));
  SetPhase(ref, OwnTask::Phase::kHeld);
  Consider(ref, now);
}

void SubJob::RestoreEvents(const v1::EventsRecord& record) {
  for (const v1::JobEvent& event : record.events()) {
    const TaskRef ref{stages_.Find(event.stage()), event.task()};
    if (event.attempt() == 0 || !IsOwn(ref)) {
      continue;
    }
    OwnTask& task = Own(ref);
    task.last_attempt = std::max(task.last_attempt, event.attempt());
    task.settled_attempt = std::max(task.settled_attempt, event.attempt());
    if (event.kind() == v1::JobEvent::KIND_ATTEMPT_FAILED) {
      ++task.failures;
      ++counts_[ref.stage].attempts_failed;
    } else if (event.kind() == v1::JobEvent::KIND_ATTEMPT_LOST) {
      ++counts_[ref.stage].attempts_lost;
    } else if (event.kind() == v1::JobEvent::KIND_START_FAILED) {
      ++counts_[ref.stage].starts_failed;
    }
  }
}

v1::FinishedTask SubJob::TakeResult(const AttemptRef& attempt) {
  OwnTask& task = Own(attempt.task);
  HOUTU_CHECK(task.phase == OwnTask::Phase::kEnding && task.result != nullptr,
              "a result is recorded once");
  v1::FinishedTask result = std::move(*task.result);
  task.result.reset();
  SetPhase(attempt.task, OwnTask::Phase::kFinished);
  return result;
}

v1::FinishedRecord SubJob::FinishedRecordOf(int stage, int chunk) const {
  v1::FinishedRecord record;
  for (int i = stages_.ChunkBegin(stage, chunk); i < stages_.ChunkEnd(stage, chunk); ++i) {
    const TaskRef ref{stage, i};
    if (!IsOwn(ref)) {
      continue;
    }
    const FinishedFact* finished = stages_.Finished(ref);
    if (Own(ref).result != nullptr) {
      *record.add_tasks() = *Own(ref).result;
    } else if (finished != nullptr && finished->datacenter == context_.datacenter) {
      *record.add_tasks() = finished->task;
    }
  }
  return record;
}

// ---- Readiness -------------------------------------------------------------------------------

void SubJob::Consider(TaskRef ref, absl::Time now) {
  OwnTask& task = Own(ref);
  if (task.phase != OwnTask::Phase::kHeld || stopping_ || !settled_ || !stages_.InputsReady(ref)) {
    return;
  }
  SetPhase(ref, task.paused_until > now ? OwnTask::Phase::kPaused : OwnTask::Phase::kWaiting);
}

void SubJob::ConsiderStage(int stage, absl::Time now) {
  const std::set<int> held = held_[stage];
  for (const int task : held) {
    Consider({stage, task}, now);
  }
}

void SubJob::Withdraw(TaskRef ref) {
  if (!IsOwn(ref) || stages_.InputsReady(ref)) {
    return;
  }
  const OwnTask::Phase phase = Own(ref).phase;
  if (phase == OwnTask::Phase::kWaiting || phase == OwnTask::Phase::kPaused) {
    SetPhase(ref, OwnTask::Phase::kHeld);
  }
}

void SubJob::UpstreamFinished(TaskRef upstream, absl::Time now) {
  for (const StageFacts::Edge& edge : stages_.at(upstream.stage).consumers) {
    const TaskRef ref{edge.stage, upstream.task};
    if (edge.exchange == v1::EXCHANGE_ONE_TO_ONE && IsOwn(ref)) {
      Consider(ref, now);
    }
  }
  UpstreamReleased(upstream.stage, now);
}

void SubJob::UpstreamReleased(int upstream_stage, absl::Time now) {
  if (!stages_.at(upstream_stage).complete()) {
    return;
  }
  for (const StageFacts::Edge& edge : stages_.at(upstream_stage).consumers) {
    ConsiderStage(edge.stage, now);
  }
}

void SubJob::UpstreamLost(const std::vector<TaskRef>& upstream) {
  std::set<int> consumers;  // stages that read a whole stage, complete no more
  for (const TaskRef& lost : upstream) {
    for (const StageFacts::Edge& edge : stages_.at(lost.stage).consumers) {
      if (edge.exchange == v1::EXCHANGE_ONE_TO_ONE) {
        Withdraw({edge.stage, lost.task});
      } else {
        consumers.insert(edge.stage);
      }
    }
  }
  for (const int stage : consumers) {
    for (size_t task = 0; task < tasks_[stage].size(); ++task) {
      Withdraw({stage, static_cast<int>(task)});
    }
  }
}

std::string SubJob::PreferredNode(TaskRef ref) const {
  if (const OwnTask& task = Own(ref); task.input != nullptr) {
    return task.input->datacenter() == context_.datacenter ? task.input->node() : "";
  }
  for (const StageFacts::Edge& need : stages_.at(ref.stage).needs) {
    if (need.exchange != v1::EXCHANGE_ONE_TO_ONE) {
      continue;
    }
    const FinishedFact* upstream = stages_.Finished({need.stage, ref.task});
    if (upstream != nullptr && upstream->datacenter == context_.datacenter) {
      return upstream->task.node();
    }
  }
  return "";
}

}  // namespace houtu::jobmanager
