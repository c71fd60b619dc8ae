// Primary: what clients are shown of the job.
#include <algorithm>
#include <utility>

#include "jobmanager/core/limits.h"
#include "jobmanager/core/primary.h"
#include "jobmanager/core/sub_job.h"

namespace houtu::jobmanager {

void Primary::Heard(v1::SubJobReport report) {
  v1::SubJobReport& known = peers_[report.datacenter()];
  if (report.term() >= known.term()) {
    known = std::move(report);
  }
}

v1::StageStatus Primary::StatusOf(int stage, const SubJob& own) const {
  const StageFacts& facts = stages_.at(stage);
  const OwnCounts& counts = own.counts(stage);
  v1::StageStatus status;
  status.set_name(stages_.name(stage));
  status.set_state(facts.record.state());
  status.set_tasks_total(stages_.PlannedTasks(stage));
  status.set_tasks_finished(facts.finished_count);
  status.set_attempts_failed(counts.attempts_failed);
  status.set_attempts_lost(counts.attempts_lost);
  status.set_starts_failed(counts.starts_failed);
  int running = counts.started + counts.ending;
  for (const auto& [datacenter, report] : peers_) {
    for (const v1::StageStatus& peer : report.stages()) {
      if (peer.name() == status.name()) {
        running += peer.tasks_running();
        status.set_attempts_failed(status.attempts_failed() + peer.attempts_failed());
        status.set_attempts_lost(status.attempts_lost() + peer.attempts_lost());
        status.set_starts_failed(status.starts_failed() + peer.starts_failed());
      }
    }
  }
  // A report may be older than the records: what is finished counts.
  const int unfinished = std::max(0, status.tasks_total() - status.tasks_finished());
  running = facts.record.state() == v1::STAGE_STATE_RUNNING ? std::min(running, unfinished) : 0;
  status.set_tasks_running(running);
  status.set_tasks_waiting(unfinished - running);
  if (facts.record.has_released_at()) {
    *status.mutable_started_at() = facts.record.released_at();
  }
  if (facts.record.has_ended_at()) {
    *status.mutable_ended_at() = facts.record.ended_at();
  }
  return status;
}

bool Primary::HasUnfinishedTasks(int datacenter) const {
  for (int stage = 0; stage < stages_.size(); ++stage) {
    const std::vector<int>& assigned = assigned_[stage].datacenter;
    for (int i = 0; i < static_cast<int>(assigned.size()) && !stages_.at(stage).complete(); ++i) {
      if (assigned[i] == datacenter && stages_.Finished({stage, i}) == nullptr) {
        return true;
      }
    }
  }
  return false;
}

void Primary::AddWaits(const View& view, v1::JobStatus* status) const {
  for (v1::WaitReason& wait : view.own->Waits(view.now)) {
    *status->add_waits() = std::move(wait);
  }
  for (int i = 0; i < context_.job.datacenters_size(); ++i) {
    const std::string& datacenter = context_.job.datacenters(i);
    // A report is older than the records: nothing waits where all is finished.
    if (datacenter == context_.datacenter || !HasUnfinishedTasks(i)) {
      continue;
    }
    if (const auto peer = peers_.find(datacenter); peer != peers_.end()) {
      status->mutable_waits()->MergeFrom(peer->second.waits());
    } else {
      v1::WaitReason* wait = status->add_waits();
      wait->set_code("manager_starting");
      wait->set_message("the job's manager there was not heard yet");
      wait->set_datacenter(datacenter);
    }
  }
  for (const auto& [stage, listing] : listings_) {
    for (const auto& [datacenter, at] : listing.retry_at) {
      v1::WaitReason* wait = status->add_waits();
      wait->set_code("no_leader");
      wait->set_message("its inputs can't be listed: the master can't be reached");
      wait->set_stage(stages_.name(stage));
      wait->set_datacenter(datacenter);
    }
  }
  if (output_.retry_at != absl::InfiniteFuture()) {
    v1::WaitReason* wait = status->add_waits();
    wait->set_code("retry_backoff");
    wait->set_message("the result could not be written yet: an agent can't be reached");
    wait->set_datacenter(context_.job.job().output().datacenter());
  }
  while (status->waits_size() > kWaitReasonsMax) {
    status->mutable_waits()->RemoveLast();
  }
}

v1::JobStatus Primary::Status(const View& view) const {
  v1::JobStatus status;
  status.set_id(context_.job.id());
  status.set_name(context_.job.job().name());
  status.set_account(context_.job.job().account());
  status.set_state(state_.state());
  status.set_message(state_.message());
  *status.mutable_submitted_at() = context_.job.submitted_at();
  if (state_.has_started_at()) {
    *status.mutable_started_at() = state_.started_at();
  }
  if (state_.has_ended_at()) {
    *status.mutable_ended_at() = state_.ended_at();
  } else {
    AddWaits(view, &status);
  }
  for (int stage = 0; stage < stages_.size(); ++stage) {
    *status.add_stages() = StatusOf(stage, *view.own);
  }
  for (const auto& [ends, bytes] : *view.transfers) {
    v1::Transfer* transfer = status.add_transfers();
    transfer->set_from_datacenter(ends.first);
    transfer->set_to_datacenter(ends.second);
    transfer->set_bytes(bytes);
  }
  *status.mutable_datacenters() = context_.job.datacenters();
  status.set_primary_datacenter(context_.datacenter);
  (*status.mutable_containers())[context_.datacenter] = view.own->containers();
  for (const auto& [datacenter, report] : peers_) {
    (*status.mutable_containers())[datacenter] = report.containers();
  }
  return status;
}

v1::RunningRecord Primary::Running(const View& view) const {
  v1::RunningRecord running;
  if (state_.has_ended_at()) {
    return running;
  }
  for (v1::TaskStatus& task : view.own->RunningTasks()) {
    *running.add_tasks() = std::move(task);
  }
  for (const auto& [datacenter, report] : peers_) {
    for (const v1::TaskStatus& task : report.running()) {
      if (running.tasks_size() < kRunningListedMax) {
        *running.add_tasks() = task;
      }
    }
  }
  return running;
}

}  // namespace houtu::jobmanager
