// JobManagerCore: what follows every event: the DAG goes on, tasks start, records are written, the
// others are told.
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "jobmanager/core/job_manager_core.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/task_spec.h"

namespace houtu::jobmanager {

void JobManagerCore::FinishStep(absl::Time now) {
  if (finished_) {
    return;
  }
  HandleOutcomes(now);
  if (primary_ != nullptr) {
    LeadOn(now);
  }
  if (now >= next_period_) {
    next_period_ = now + context_.period;
    sub_job_.Period(now);
  }
  sub_job_.Work(now);
  HandleOutcomes(now);
  TellOthers(now);
}

void JobManagerCore::HandleOutcomes(absl::Time now) {
  std::vector<v1::LostPartition> lost = sub_job_.TakeLost();
  const std::optional<std::string> fatal = sub_job_.TakeFatal();
  if (primary_ == nullptr) {
    std::ranges::move(lost, std::back_inserter(lost_));
    fatal_ = fatal.value_or(fatal_);
    changed_ |= fatal.has_value();
    return;
  }
  sub_job_.UpstreamLost(primary_->Reopen(lost, now));
  if (fatal.has_value()) {
    primary_->End(v1::JOB_STATE_FAILED, *fatal, now);
  }
}

void JobManagerCore::LeadOn(absl::Time now) {
  primary_->Retry(now);
  if (std::exchange(unfold_, false)) {
    primary_->Unfold(now);
  }
  if (primary_->ending()) {
    sub_job_.StopAll("the job ends", now);
    primary_->TryEnd(sub_job_.started(), now);
  }
}

// The status and the report are told a few times a second, and only if something changed; losses at
// once, for what reads them would start and fail; a report every period, too: the primary may be a
// new one.
bool JobManagerCore::ToldIsDue(absl::Time now) const {
  if (primary_ != nullptr) {
    return changed_ && now >= told_at_ + kStatusInterval;
  }
  return !lost_.empty() || (changed_ && now >= told_at_ + kReportInterval) ||
         now >= told_at_ + context_.period;
}

void JobManagerCore::TellOthers(absl::Time now) {
  if (!ToldIsDue(now)) {
    return;
  }
  changed_ = false;
  told_at_ = now;
  if (primary_ == nullptr) {
    outbox_.Add(ReportToPrimary{Report(now)});
    return;
  }
  recorder_.Mark(RecordKey::Running());
  recorder_.Mark(RecordKey::Status());
}

v1::SubJobReport JobManagerCore::Report(absl::Time now) {
  v1::SubJobReport report;
  report.set_job(context_.job.id());
  report.set_token(context_.job.token());
  report.set_datacenter(context_.datacenter);
  report.set_term(context_.term);
  for (int stage = 0; stage < stages_.size(); ++stage) {
    const OwnCounts& counts = sub_job_.counts(stage);
    if (counts.assigned == 0) {
      continue;
    }
    v1::StageStatus* status = report.add_stages();
    status->set_name(stages_.name(stage));
    status->set_tasks_running(counts.started + counts.ending);
    status->set_tasks_waiting(counts.assigned - counts.started - counts.ending - counts.finished);
    status->set_attempts_failed(counts.attempts_failed);
    status->set_attempts_lost(counts.attempts_lost);
    status->set_starts_failed(counts.starts_failed);
  }
  for (v1::WaitReason& wait : sub_job_.Waits(now)) {
    *report.add_waits() = std::move(wait);
  }
  for (v1::TaskStatus& task : sub_job_.RunningTasks()) {
    *report.add_running() = std::move(task);
  }
  for (v1::LostPartition& lost : std::exchange(lost_, {})) {
    *report.add_lost() = std::move(lost);
  }
  report.set_containers(sub_job_.containers());
  report.set_fatal(fatal_);
  return report;
}

std::string JobManagerCore::Serialise(const RecordKey& key, absl::Time now) const {
  const Primary::View view{.own = &sub_job_, .transfers = &transfers_, .now = now};
  switch (key.kind) {
    case RecordKey::Kind::kState:
      return primary_->state().SerializeAsString();
    case RecordKey::Kind::kStatus:
      return primary_->Status(view).SerializeAsString();
    case RecordKey::Kind::kRunning:
      return primary_->Running(view).SerializeAsString();
    case RecordKey::Kind::kStage:
      return stages_.at(key.stage).record.SerializeAsString();
    case RecordKey::Kind::kAssignment:
      return primary_->AssignmentRecordOf(key.stage, key.datacenter, key.chunk).SerializeAsString();
    case RecordKey::Kind::kFinished:
      return sub_job_.FinishedRecordOf(key.stage, key.chunk).SerializeAsString();
    case RecordKey::Kind::kEvents:
      return events_.Record(key.chunk).SerializeAsString();
  }
  HOUTU_UNREACHABLE("every kind of record is known");
}

Effects JobManagerCore::Collect(absl::Time now) {
  Effects effects;
  if (auto multi = recorder_.Next([&](const RecordKey& key) { return Serialise(key, now); });
      multi.has_value() && !finished_) {
    effects.list.emplace_back(*std::move(multi));
  }
  for (Effect& effect : outbox_.Take()) {
    effects.list.push_back(std::move(effect));
  }
  effects.wake_at = NextWake(now);
  return effects;
}

absl::Time JobManagerCore::NextWake(absl::Time now) const {
  if (finished_) {
    return absl::InfiniteFuture();
  }
  absl::Time wake = std::min(next_period_, sub_job_.NextWake(now));
  if (changed_) {
    wake = std::min(wake, told_at_ + (primary_ != nullptr ? kStatusInterval : kReportInterval));
  }
  if (primary_ != nullptr) {
    wake = std::min(wake, primary_->NextWake());
  }
  return wake;
}

}  // namespace houtu::jobmanager
