// AgentCore and an attempt: from the container's being ready to the recorded end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/core/agent_core.h"
#include "common/base/time.h"

namespace houtu::agent {
namespace {

using Phase = AttemptState::Phase;

v1::TaskEndReason EndReasonOf(LaunchResult::Kind kind) {
  switch (kind) {
    case LaunchResult::Kind::kStarted:
      return v1::TASK_END_REASON_UNSPECIFIED;
    case LaunchResult::Kind::kNotExecutable:
      return v1::TASK_END_REASON_NOT_EXECUTABLE;
    case LaunchResult::Kind::kInputLost:
      return v1::TASK_END_REASON_INPUT_LOST;
    case LaunchResult::Kind::kContainerGone:
      return v1::TASK_END_REASON_LOST;
    case LaunchResult::Kind::kNodeFault:
      return v1::TASK_END_REASON_START_FAILED;
  }
  return v1::TASK_END_REASON_UNSPECIFIED;
}

}  // namespace

AttemptState* AgentCore::FindAttempt(const std::string& lease_id, const AttemptKey& key) {
  LeaseState* lease = Find(lease_id);
  if (lease == nullptr) {
    return nullptr;
  }
  const auto it = lease->attempts.find(key);
  return it == lease->attempts.end() ? nullptr : &it->second;
}

void AgentCore::LaunchWaiting(LeaseState& lease) {
  if (lease.IsManagers() && lease.attempts.empty()) {
    const v1::TaskSpec spec = ManagerSpec(lease.start.lease());
    const AttemptKey key = KeyOf(spec.id());
    lease.attempts[key].spec = spec;
    *lease.attempts[key].report.mutable_id() = spec.id();
    lease.waiting.push_back(key);
  }
  size_t launched = 0;
  for (const AttemptKey& key : lease.waiting) {
    AttemptState& attempt = lease.attempts[key];
    if (ShapeOf(attempt.spec.image(), attempt.spec.network()) != lease.shape) {
      break;  // in order: later ones of the old image must not keep the container for ever
    }
    Launch(lease, attempt);
    ++launched;
  }
  lease.waiting.erase(lease.waiting.begin(),
                      lease.waiting.begin() + static_cast<std::ptrdiff_t>(launched));
  if (!lease.waiting.empty() && lease.InContainer() == 0) {
    lease.operation = LeaseState::Operation::kDestroying;
    effects_.push_back(DestroyContainer{lease.id()});
  }
}

void AgentCore::Launch(LeaseState& lease, AttemptState& attempt) {
  attempt.phase = Phase::kLaunching;
  effects_.push_back(LaunchTask{.lease = lease.start, .spec = attempt.spec});
}

void AgentCore::On(const TaskLaunched& event) {
  AttemptState* attempt = FindAttempt(event.lease_id, event.key);
  if (attempt == nullptr || attempt->phase != Phase::kLaunching) {
    return;
  }
  LeaseState& lease = leases_[event.lease_id];
  attempt->report.set_input_local_bytes(event.result.input_local_bytes);
  attempt->report.mutable_input_bytes_from_datacenter()->insert(
      event.result.input_bytes_from.begin(), event.result.input_bytes_from.end());
  if (event.result.kind != LaunchResult::Kind::kStarted) {
    NotStarted(lease, *attempt, event.result);
    return Advance(lease);
  }
  attempt->phase = Phase::kRunning;
  attempt->report.set_state(v1::TaskReport::STATE_RUNNING);
  *attempt->report.mutable_started_at() = ToProto(now_);
  if (attempt->early_exit) {
    Finish(lease, *attempt, std::exchange(attempt->early_exit, std::nullopt));
  } else {
    ReportTask(*attempt);
    if (attempt->stop_wanted) {
      effects_.push_back(StopProgram{
          .lease_id = lease.id(), .key = event.key, .grace = FromProto(attempt->spec.grace())});
    }
  }
  Advance(lease);
}

void AgentCore::NotStarted(LeaseState& lease, AttemptState& attempt, const LaunchResult& result) {
  for (const v1::LostPartition& lost : result.lost) {
    *attempt.report.add_lost() = lost;
  }
  if (result.kind == LaunchResult::Kind::kNodeFault) {
    NodeFault(result.message);
    lease.fault = result.message;
  }
  if (attempt.stop_wanted) {
    return FinishAs(lease, attempt, v1::TASK_END_REASON_STOPPED, attempt.stop_reason);
  }
  FinishAs(lease, attempt, EndReasonOf(result.kind), result.message);
}

void AgentCore::On(const TaskExited& event) {
  AttemptState* attempt = FindAttempt(event.lease_id, event.key);
  if (attempt == nullptr) {
    return;
  }
  if (attempt->phase == Phase::kLaunching) {
    attempt->early_exit = event.exit;
  } else if (attempt->phase == Phase::kRunning) {
    LeaseState& lease = leases_[event.lease_id];
    Finish(lease, *attempt, event.exit);
    Advance(lease);
  }
}

void AgentCore::StopAttempt(LeaseState& lease, AttemptState& attempt, const std::string& reason) {
  attempt.stop_reason = reason;
  switch (attempt.phase) {
    case Phase::kWaiting:
      std::erase(lease.waiting, KeyOf(attempt.spec.id()));
      return FinishAs(lease, attempt, v1::TASK_END_REASON_STOPPED, reason);
    case Phase::kLaunching:
      attempt.stop_wanted = true;
      return;
    case Phase::kRunning:
      if (!std::exchange(attempt.stop_wanted, true)) {
        absl::Duration grace = FromProto(attempt.spec.grace());
        if (lease.ending) {
          grace = std::min(grace, lease.ending->grace);
        }
        effects_.push_back(
            StopProgram{.lease_id = lease.id(), .key = KeyOf(attempt.spec.id()), .grace = grace});
      }
      return;
    case Phase::kFinishing:
    case Phase::kEnded:
      return;
  }
}

void AgentCore::Finish(LeaseState& lease, AttemptState& attempt, std::optional<TaskExit> exit) {
  attempt.phase = Phase::kFinishing;
  attempt.report.set_state(v1::TaskReport::STATE_ENDED);
  attempt.report.set_lease_id(lease.id());
  if (attempt.stop_wanted) {
    attempt.report.set_message(attempt.stop_reason);
  }
  effects_.push_back(FinishTask{.lease_id = lease.id(),
                                .spec = attempt.spec,
                                .exit = std::move(exit),
                                .report = attempt.report});
}

void AgentCore::FinishAs(LeaseState& lease, AttemptState& attempt, v1::TaskEndReason reason,
                         std::string message) {
  attempt.report.set_end_reason(reason);
  *attempt.report.mutable_ended_at() = ToProto(now_);
  Finish(lease, attempt, std::nullopt);
  attempt.report.set_message(message);
  std::get<FinishTask>(effects_.back()).report.set_message(std::move(message));
}

void AgentCore::On(const TaskFinished& event) {
  AttemptState* attempt = FindAttempt(event.lease_id, event.key);
  if (attempt == nullptr || attempt->phase != Phase::kFinishing) {
    return;
  }
  LeaseState& lease = leases_[event.lease_id];
  attempt->phase = Phase::kEnded;
  attempt->report = event.report;
  if (!event.node_status.ok()) {
    lease.fault = event.node_status.ToString();
    NodeFault(*lease.fault);
  }
  if (IsManager(event.key)) {
    return OnManagerEnded(lease, event.report);
  }
  ReportTask(*attempt);
  Advance(lease);
}

void AgentCore::OnManagerEnded(LeaseState& lease, const v1::TaskReport& report) {
  const bool done = report.end_reason() == v1::TASK_END_REASON_SUCCEEDED;
  LeaseEnding ending{.reason = done ? v1::LEASE_END_REASON_RELEASED
                                    : v1::LEASE_END_REASON_CONTAINER_FAILED};
  if (!done) {
    ending.message = "job manager: " + report.message();
    ending.node_fault = report.end_reason() == v1::TASK_END_REASON_START_FAILED;
  }
  BeginEnd(lease, std::move(ending));
  Advance(lease);
}

void AgentCore::ReportTask(const AttemptState& attempt) {
  const auto session = sessions_.find(attempt.spec.id().job());
  if (session != sessions_.end() && attempt.spec.id().stage() != kManagerStage) {
    effects_.push_back(SendTaskReport{.session = session->second, .report = attempt.report});
  }
}

}  // namespace houtu::agent
