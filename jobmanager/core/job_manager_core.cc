#include "jobmanager/core/job_manager_core.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "common/base/status.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/task_spec.h"

namespace houtu::jobmanager {

JobManagerCore::JobManagerCore(JobContext context)
    : context_(std::move(context)),
      stages_(context_.job.job()),
      events_(context_.datacenter),
      sub_job_({.context = &context_,
                .stages = &stages_,
                .recorder = &recorder_,
                .events = &events_,
                .outbox = &outbox_}) {
  if (context_.primary()) {
    primary_ = std::make_unique<Primary>(Primary::Parts{.context = &context_,
                                                        .stages = &stages_,
                                                        .recorder = &recorder_,
                                                        .events = &events_,
                                                        .outbox = &outbox_});
  }
}

Effects JobManagerCore::Step(absl::Time now, const Event& event) {
  if (finished_) {
    return {};
  }
  std::visit([&](const auto& typed) { On(now, typed); }, event);
  FinishStep(now);
  return Collect(now);
}

// ---- Records ---------------------------------------------------------------------------------

void JobManagerCore::On(absl::Time now, const Recovered& event) {
  next_period_ = now + context_.period;
  unfold_ = true;
  changed_ = true;
  RestoreStages(event, now);
  for (const auto& [number, record] : event.events) {
    events_.Restore(number, record);
    sub_job_.RestoreEvents(record);
  }
  v1::JobEvent started;
  started.set_kind(v1::JobEvent::KIND_MANAGER_STARTED);
  started.set_task(-1);
  started.set_node(context_.node);
  started.set_message(fmt::format("term {}", context_.term));
  recorder_.Mark(events_.Add(now, std::move(started)));
  if (primary_ != nullptr) {
    primary_->Restore(event.state, now);
  }
  On(now, StateRead{event.state});
  if (event.cancel_requested || event.state.state() == v1::JOB_STATE_CANCELLING) {
    On(now, CancelRequested{});
  }
}

void JobManagerCore::RestoreStages(const Recovered& event, absl::Time now) {
  for (const Recovered::Stage& stage : event.stages) {
    stages_.SetRecord(stage.stage, stage.record);
  }
  for (const auto& chunk : event.assignments) {
    if (primary_ != nullptr && stages_.at(chunk.stage).released()) {
      primary_->RestoreAssignment(chunk.stage, chunk.datacenter, chunk.record);
    }
  }
  for (const auto& chunk : event.finished) {
    ApplyFinished({chunk.stage, chunk.datacenter, chunk.chunk, chunk.record}, now);
  }
  for (const auto& chunk : event.assignments) {
    if (chunk.datacenter == context_.datacenter) {
      On(now, AssignmentRead{chunk.stage, chunk.chunk, chunk.record});
    }
  }
}

void JobManagerCore::On(absl::Time now, const RecordsWritten& event) {
  for (const Deferred& deferred : recorder_.Written(event.batch)) {
    std::visit([&](const auto& typed) { Then(now, typed); }, deferred);
  }
}

void JobManagerCore::Then(absl::Time now, const ResultRecorded& recorded) {
  const v1::FinishedTask result = sub_job_.TakeResult(recorded.attempt);
  AddFinished(recorded.attempt.task, context_.datacenter, result, now);
  outbox_.Acknowledge(recorded.node, IdOf(context_, stages_, recorded.attempt),
                      /*discard=*/false);
}

void JobManagerCore::Then(absl::Time now, const AssignmentRecorded& recorded) {
  ApplyAssignment(recorded.stage,
                  primary_->AssignmentRecordOf(recorded.stage, context_.datacenter, recorded.chunk),
                  now);
}

void JobManagerCore::Then(absl::Time /*now*/, const EndRecorded& recorded) {
  outbox_.Acknowledge(recorded.node, IdOf(context_, stages_, recorded.attempt), /*discard=*/true);
}

void JobManagerCore::Then(absl::Time /*now*/, const JobEndRecorded& /*recorded*/) {
  finished_ = true;
  outbox_.Add(Finish{});
}

void JobManagerCore::On(absl::Time now, const StageRead& event) {
  stages_.SetRecord(event.stage, event.record);
  changed_ = true;
  for (const auto& [chunk, record] : std::exchange(early_assignments_[event.stage], {})) {
    ApplyAssignment(event.stage, record, now);
  }
  for (const FinishedRead& early : std::exchange(early_finished_[event.stage], {})) {
    ApplyFinished(early, now);
  }
  sub_job_.UpstreamReleased(event.stage, now);
}

void JobManagerCore::On(absl::Time now, const AssignmentRead& event) {
  if (!stages_.at(event.stage).released()) {
    early_assignments_[event.stage][event.chunk] = event.record;
    return;
  }
  ApplyAssignment(event.stage, event.record, now);
}

void JobManagerCore::ApplyAssignment(int stage, const v1::AssignmentRecord& record,
                                     absl::Time now) {
  const std::vector<TaskRef> reopened = sub_job_.Assign(stage, record, now);
  DropFinished(reopened);
  for (const TaskRef& ref : reopened) {
    sub_job_.Reopened(ref, now);
  }
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const FinishedRead& event) {
  if (!stages_.at(event.stage).released()) {
    early_finished_[event.stage].push_back(event);
    return;
  }
  ApplyFinished(event, now);
}

void JobManagerCore::ApplyFinished(const FinishedRead& event, absl::Time now) {
  std::map<int, const v1::FinishedTask*> told;
  for (const v1::FinishedTask& task : event.record.tasks()) {
    told[task.task()] = &task;
  }
  const int begin = stages_.ChunkBegin(event.stage, event.chunk);
  const int end = stages_.ChunkEnd(event.stage, event.chunk);
  std::vector<TaskRef> dropped;
  for (int i = begin; i < end; ++i) {
    const FinishedFact* known = stages_.Finished({event.stage, i});
    const auto it = told.find(i);
    if (known != nullptr && known->datacenter == event.datacenter &&
        (it == told.end() || it->second->attempt() != known->task.attempt())) {
      dropped.push_back({event.stage, i});
    }
  }
  DropFinished(dropped);
  for (const auto& [task, finished] : told) {
    const TaskRef ref{event.stage, task};
    if (task >= begin && task < end &&
        (primary_ == nullptr || !primary_->Spent(ref, finished->attempt()))) {
      AddFinished(ref, event.datacenter, *finished, now);
    }
  }
}

void JobManagerCore::AddFinished(TaskRef ref, const std::string& datacenter,
                                 const v1::FinishedTask& task, absl::Time now) {
  if (!stages_.AddFinished(ref, datacenter, task)) {
    return;
  }
  for (const auto& [from, bytes] : task.input_bytes()) {
    if (!from.empty() && from != datacenter) {
      transfers_[{from, datacenter}] += bytes;
    }
  }
  changed_ = true;
  unfold_ |= stages_.at(ref.stage).complete();
  sub_job_.UpstreamFinished(ref, now);
}

void JobManagerCore::DropFinished(const std::vector<TaskRef>& dropped) {
  for (const TaskRef& ref : dropped) {
    // The primary takes a lost result out before its own part hears of it.
    if (stages_.Finished(ref) != nullptr) {
      stages_.RemoveFinished(ref);
    }
  }
  sub_job_.UpstreamLost(dropped);
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const StateRead& event) {
  const v1::JobState state = event.record.state();
  if (state == v1::JOB_STATE_CANCELLING) {
    sub_job_.StopAll("the job is cancelled", now);
  } else if (state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
             state == v1::JOB_STATE_CANCELLED) {
    sub_job_.StopAll("the job ended", now);
    finished_ = true;
    outbox_.Add(Finish{});
  }
}

void JobManagerCore::On(absl::Time now, const CancelRequested& event) {
  if (primary_ != nullptr) {
    primary_->End(v1::JOB_STATE_CANCELLED,
                  event.by.empty() ? "cancelled" : "cancelled by " + event.by, now);
  }
  sub_job_.StopAll("the job is cancelled", now);
  changed_ = true;
}

// ---- The master and the agents ---------------------------------------------------------------

void JobManagerCore::On(absl::Time now, const MasterConnected& event) {
  sub_job_.MasterUp(event.welcome, now);
  changed_ = true;
}

void JobManagerCore::On(absl::Time /*now*/, const MasterDisconnected& /*event*/) {
  sub_job_.MasterDown();
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const LeaseWasGranted& event) {
  sub_job_.LeaseGranted(event.granted, now);
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const LeaseWasRevoked& event) {
  sub_job_.LeaseRevoked(event.revoked, now);
  changed_ = true;
}

void JobManagerCore::On(absl::Time /*now*/, const DemandReasonsTold& event) {
  sub_job_.SetMasterReasons(event.reasons);
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const AgentConnected& event) {
  sub_job_.AgentUp(event.node, event.welcome, now);
  changed_ = true;
}

void JobManagerCore::On(absl::Time /*now*/, const AgentDisconnected& event) {
  sub_job_.AgentDown(event.node);
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const TasksReported& event) {
  for (const v1::TaskReport& report : event.reports.reports()) {
    sub_job_.Reported(event.node, report, now);
  }
  changed_ = true;
}

void JobManagerCore::On(absl::Time now, const StartRefused& event) {
  sub_job_.Refused(event.node, event.refused, now);
}

// ---- What only a primary is told -------------------------------------------------------------

void JobManagerCore::On(absl::Time now, const InputsListed& event) {
  if (primary_ != nullptr) {
    primary_->InputsListed(event.stage, event.datacenter, event.response, now);
    changed_ = true;
  }
}

void JobManagerCore::On(absl::Time now, const OutputWritten& event) {
  if (primary_ != nullptr) {
    sub_job_.UpstreamLost(primary_->OutputWritten(event.response, now));
    changed_ = true;
  }
}

void JobManagerCore::On(absl::Time now, const PeerReported& event) {
  if (primary_ == nullptr) {
    return;
  }
  sub_job_.UpstreamLost(
      primary_->Reopen({event.report.lost().begin(), event.report.lost().end()}, now));
  if (!event.report.fatal().empty()) {
    primary_->End(v1::JOB_STATE_FAILED, event.report.fatal(), now);
  }
  primary_->Heard(event.report);
  changed_ = true;
}

void JobManagerCore::On(absl::Time /*now*/, const Tick& /*event*/) {}

}  // namespace houtu::jobmanager
