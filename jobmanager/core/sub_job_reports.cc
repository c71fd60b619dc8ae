// SubJob: what agents tell of attempts, and what follows from each way to end.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/pauses.h"
#include "jobmanager/core/sub_job.h"
#include "jobmanager/core/task_result.h"
#include "jobmanager/core/task_spec.h"

namespace houtu::jobmanager {
namespace {

constexpr int kDefaultAttempts = 3;
constexpr absl::Duration kDefaultBackoff = absl::Seconds(1);

struct Retry {
  int attempts = kDefaultAttempts;
  absl::Duration backoff = kDefaultBackoff;
};

Retry RetryOf(const v1::Job& job, const v1::Stage& stage) {
  const v1::RetryPolicy& policy = stage.has_retry() ? stage.retry() : job.retry();
  Retry retry;
  retry.attempts = policy.attempts() > 0 ? policy.attempts() : kDefaultAttempts;
  retry.backoff = DurationOr(policy.has_backoff(), policy.backoff(), kDefaultBackoff);
  return retry;
}

std::string HowItEnded(const v1::TaskReport& report) {
  static const auto* const kWords = new std::map<v1::TaskEndReason, std::string>{
      {v1::TASK_END_REASON_OUT_OF_MEMORY, "out of memory"},
      {v1::TASK_END_REASON_TIMED_OUT, "ran into its time limit"},
      {v1::TASK_END_REASON_NOT_EXECUTABLE, "can't be executed"},
      {v1::TASK_END_REASON_BAD_OUTPUT, "bad output"}};
  std::string how = report.signal() != 0 ? fmt::format("ended by signal {}", report.signal())
                                         : fmt::format("exit status {}", report.exit_status());
  if (const auto it = kWords->find(report.end_reason()); it != kWords->end()) {
    how = it->second;
  }
  return report.message().empty() ? how : fmt::format("{}: {}", how, report.message());
}

}  // namespace

void SubJob::Reported(const std::string& node, const v1::TaskReport& report, absl::Time now) {
  const TaskRef ref{stages_.Find(report.id().stage()), report.id().task()};
  if (report.id().job() != context_.job.id() || !IsOwn(ref)) {
    if (report.state() == v1::TaskReport::STATE_ENDED) {
      v1::AttemptId id = report.id();
      outbox_.Acknowledge(node, std::move(id), /*discard=*/true);
    } else {
      outbox_.Stop(node, report.id(), "the task is not this manager's");
    }
    return;
  }
  OwnTask& task = Own(ref);
  task.last_attempt = std::max(task.last_attempt, report.id().attempt());
  if (report.state() == v1::TaskReport::STATE_ENDED) {
    Ended(node, ref, report, now);
  } else {
    Going(node, ref, report, now);
  }
}

void SubJob::Going(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                   absl::Time now) {
  OwnTask& task = Own(ref);
  const AttemptRef attempt{ref, report.id().attempt()};
  const HeldLease* lease = task.lease.empty() ? nullptr : leases_.Find(task.lease);
  const bool current = task.phase == OwnTask::Phase::kStarted && lease != nullptr &&
                       lease->running.contains(attempt);
  if (!current && !Adopt(node, ref, report, now)) {
    outbox_.Stop(node, report.id(), "another attempt was taken");
    return;
  }
  if (report.state() == v1::TaskReport::STATE_RUNNING && !task.running) {
    task.running = true;
    health_.Started(node);
    if (HeldLease* held = leases_.Find(task.lease); held != nullptr) {
      held->proven = true;
      image_failures_.erase(held->system.image);
    }
    if (report.has_started_at()) {
      task.started_at = FromProto(report.started_at());
    }
  }
}

bool SubJob::Adopt(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                   absl::Time now) {
  OwnTask& task = Own(ref);
  const bool waits = task.phase == OwnTask::Phase::kHeld ||
                     task.phase == OwnTask::Phase::kWaiting ||
                     task.phase == OwnTask::Phase::kPaused;
  HeldLease* lease = leases_.Find(report.lease_id());
  if (!waits || stopping_ || lease == nullptr || lease->node != node ||
      report.id().attempt() <= task.settled_attempt) {
    return false;
  }
  SetPhase(ref, OwnTask::Phase::kStarted);
  leases_.Occupy(lease->id, {ref, report.id().attempt()}, shapes_[shape_of_[ref.stage]]);
  task.lease = lease->id;
  task.node = node;
  task.started_at = now;
  task.running = false;
  health_.StartSent(node);
  return true;
}

void SubJob::Acknowledge(const std::string& node, const AttemptRef& attempt, bool discard) {
  outbox_.Acknowledge(node, IdOf(context_, stages_, attempt), discard);
}

void SubJob::Ended(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                   absl::Time now) {
  OwnTask& task = Own(ref);
  const AttemptRef attempt{ref, report.id().attempt()};
  const HeldLease* lease = task.lease.empty() ? nullptr : leases_.Find(task.lease);
  const bool current = task.phase == OwnTask::Phase::kStarted && lease != nullptr &&
                       lease->running.contains(attempt);
  if (task.result != nullptr && task.result->attempt() == attempt.attempt) {
    return;  // being recorded: acknowledged after that
  }
  const bool other_runs = task.phase == OwnTask::Phase::kStarted && !current;
  if (other_runs || task.result != nullptr || attempt.attempt <= task.settled_attempt) {
    const FinishedFact* finished = stages_.Finished(ref);
    const bool taken = finished != nullptr && finished->task.attempt() == attempt.attempt;
    Acknowledge(node, attempt, /*discard=*/!taken);
    return;
  }
  EndedNow(node, ref, report, now);
}

void SubJob::EndedNow(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                      absl::Time now) {
  OwnTask& task = Own(ref);
  leases_.Vacate(task.lease, {ref, report.id().attempt()}, now);
  task.settled_attempt = report.id().attempt();
  const v1::TaskEndReason reason = report.end_reason();
  const bool gone = reason == v1::TASK_END_REASON_STOPPED || reason == v1::TASK_END_REASON_LOST;
  if (gone || reason == v1::TASK_END_REASON_INPUT_LOST) {
    if (task.phase == OwnTask::Phase::kStarted && !task.running) {
      health_.StartUndecided(node);
    }
  } else if (reason != v1::TASK_END_REASON_START_FAILED) {
    health_.Started(node);
  }
  if (gone) {
    WentAway(node, ref, report, now);
  } else if (reason == v1::TASK_END_REASON_INPUT_LOST) {
    LostItsInput(node, ref, report, now);
  } else if (reason == v1::TASK_END_REASON_START_FAILED) {
    FailedToStart(node, ref, report, now);
  } else if (reason == v1::TASK_END_REASON_SUCCEEDED) {
    Succeeded(node, ref, report, now);
  } else {
    FailedByItself(node, ref, report, HowItEnded(report), now);
  }
}

void SubJob::WentAway(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                      absl::Time now) {
  const AttemptRef attempt{ref, report.id().attempt()};
  if (stopping_) {
    Acknowledge(node, attempt, /*discard=*/true);
    SetPhase(ref, OwnTask::Phase::kHeld);
    return;
  }
  ++counts_[ref.stage].attempts_lost;
  RecordEnd(node, attempt, v1::JobEvent::KIND_ATTEMPT_LOST,
            report.message().empty() ? "its container went away" : report.message(), now);
  Requeue(ref, absl::ZeroDuration(), now);
}

void SubJob::Succeeded(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                       absl::Time now) {
  const auto agent = agents_.find(node);
  auto result =
      ResultOf(stages_, ref, report, node, agent == agents_.end() ? "" : agent->second.address);
  if (!result.ok()) {
    FailedByItself(node, ref, report, Message(result.status()), now);
    return;
  }
  Own(ref).result = std::make_unique<v1::FinishedTask>(*std::move(result));
  SetPhase(ref, OwnTask::Phase::kEnding);
  recorder_.MarkThen(RecordKey::Finished(ref.stage, stages_.ChunkOf(ref)),
                     ResultRecorded{{ref, report.id().attempt()}, node});
}

void SubJob::RecordEnd(const std::string& node, const AttemptRef& attempt, v1::JobEvent::Kind kind,
                       const std::string& message, absl::Time now) {
  v1::JobEvent event;
  event.set_kind(kind);
  event.set_stage(stages_.name(attempt.task.stage));
  event.set_task(attempt.task.task);
  event.set_attempt(attempt.attempt);
  event.set_node(node);
  event.set_message(message);
  recorder_.MarkThen(events_.Add(now, std::move(event)), EndRecorded{attempt, node});
}

void SubJob::FailedByItself(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                            const std::string& what, absl::Time now) {
  OwnTask& task = Own(ref);
  ++counts_[ref.stage].attempts_failed;
  ++task.failures;
  RecordEnd(node, {ref, report.id().attempt()}, v1::JobEvent::KIND_ATTEMPT_FAILED, what, now);
  const Retry retry = RetryOf(context_.job.job(), *stages_.at(ref.stage).spec);
  if (task.failures >= retry.attempts && !stopping_) {
    fatal_ =
        fmt::format("stage {}: task {} failed {} of {} attempts, the last on {}: {}",
                    stages_.name(ref.stage), ref.task, task.failures, retry.attempts, node, what);
  }
  Requeue(ref, PauseAfter(task.failures, retry.backoff, kBackoffMax), now);
}

void SubJob::FailedToStart(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                           absl::Time now) {
  ++counts_[ref.stage].starts_failed;
  health_.StartFailed(node, now, report.message());
  RecordEnd(node, {ref, report.id().attempt()}, v1::JobEvent::KIND_START_FAILED, report.message(),
            now);
  Requeue(ref, absl::ZeroDuration(), now);
}

void SubJob::LostItsInput(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                          absl::Time now) {
  OwnTask& task = Own(ref);
  RecordEnd(node, {ref, report.id().attempt()}, v1::JobEvent::KIND_PARTITION_LOST, report.message(),
            now);
  for (const v1::LostPartition& lost : report.lost()) {
    lost_.push_back(lost);
  }
  if (report.lost().empty() && ++task.raw_input_losses >= kRawInputLossesMax && !stopping_) {
    fatal_ = fmt::format(
        "stage {}: task {}: its input could not be read {} times, the last on {}: "
        "{}",
        stages_.name(ref.stage), ref.task, task.raw_input_losses, node, report.message());
  }
  Requeue(ref, kInputLostPause, now);
}

void SubJob::Requeue(TaskRef ref, absl::Duration pause, absl::Time now) {
  OwnTask& task = Own(ref);
  SetPhase(ref, OwnTask::Phase::kHeld);
  task.lease.clear();
  task.paused_until = now + pause;
  Consider(ref, now);
}

void SubJob::Lose(TaskRef ref, const std::string& why, absl::Time now) {
  OwnTask& task = Own(ref);
  HOUTU_CHECK(task.phase == OwnTask::Phase::kStarted, "only a started attempt is lost");
  const HeldLease* lease = leases_.Find(task.lease);
  HOUTU_CHECK(lease != nullptr, "a started attempt has a lease");
  int number = 0;
  for (const auto& [attempt, taken] : lease->running) {
    number = attempt.task == ref ? attempt.attempt : number;
  }
  leases_.Vacate(task.lease, {ref, number}, now);
  task.settled_attempt = std::max(task.settled_attempt, number);
  if (!task.running) {
    health_.StartUndecided(task.node);
  }
  ++counts_[ref.stage].attempts_lost;
  RecordEnd(task.node, {ref, number}, v1::JobEvent::KIND_ATTEMPT_LOST, why, now);
  Requeue(ref, absl::ZeroDuration(), now);
}

void SubJob::Refused(const std::string& node, const v1::TaskRefused& refused, absl::Time now) {
  const TaskRef ref{stages_.Find(refused.id().stage()), refused.id().task()};
  if (!IsOwn(ref) || Own(ref).phase != OwnTask::Phase::kStarted) {
    return;
  }
  OwnTask& task = Own(ref);
  HeldLease* lease = leases_.Find(task.lease);
  const AttemptRef attempt{ref, refused.id().attempt()};
  if (lease == nullptr || lease->node != node || !lease->running.contains(attempt)) {
    return;
  }
  absl::Duration pause = kRefusedPauseFirst;
  for (int i = 0; i < lease->refusals && pause < kRefusedPauseMax; ++i) {
    pause *= 2;
  }
  ++lease->refusals;
  lease->paused_until = now + std::min(pause, kRefusedPauseMax);
  leases_.Vacate(lease->id, attempt, now);
  task.settled_attempt = attempt.attempt;
  if (!task.running) {
    health_.StartUndecided(node);
  }
  Requeue(ref, absl::ZeroDuration(), now);
}

}  // namespace houtu::jobmanager
