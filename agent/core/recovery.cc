// AgentCore after a start: what was there before is adopted. Tasks went on while the agent was
// away; what ended meanwhile is finished now, once (C21, C26 d).
#include "agent/core/agent_core.h"

namespace houtu::agent {

void AgentCore::On(const Recovered& event) {
  terms_ = event.terms;
  for (const RecoveredLease& lease : event.leases) {
    Adopt(lease);
  }
}

void AgentCore::Adopt(const RecoveredLease& from) {
  LeaseState& lease = leases_[from.start.lease().id()];
  lease.start = from.start;
  lease.accepted = true;
  *lease.report.mutable_lease() = from.start.lease();
  lease.report.set_state(from.container_runs ? v1::LeaseReport::STATE_READY
                                             : v1::LeaseReport::STATE_ACCEPTED);
  lease.container_up = from.container_runs;
  if (from.container) {
    lease.shape = *from.container;
    lease.generation = 1;
  }
  if (from.end) {
    lease.ended = true;
    lease.end_recorded = true;
    lease.report = *from.end;
  }
  AdoptAttempts(lease, from);
  if (lease.ended) {
    return;
  }
  for (const auto& [key, attempt] : lease.attempts) {
    if (IsManager(key) && attempt.phase == AttemptState::Phase::kEnded) {
      return OnManagerEnded(lease, attempt.report);
    }
  }
  if (from.container && !from.container_runs) {
    lease.container_up = true;  // its cgroups and mounts are still to be removed
    lease.container_broken = true;
    BeginEnd(lease, {.reason = v1::LEASE_END_REASON_CONTAINER_FAILED,
                     .message = "its container was gone when the agent came back"});
    return;
  }
  Advance(lease);
}

void AgentCore::AdoptAttempts(LeaseState& lease, const RecoveredLease& from) {
  for (const RecoveredAttempt& found : from.attempts) {
    if (lease.IsManagers() && lease.ended) {
      continue;
    }
    const AttemptKey key = KeyOf(found.spec.id());
    AttemptState& attempt = lease.attempts[key];
    attempt.spec = found.spec;
    *attempt.report.mutable_id() = found.spec.id();
    attempt.report.set_lease_id(lease.id());
    attempt.report.set_state(v1::TaskReport::STATE_PREPARING);
    if (!IsManager(key)) {
      lease_of_[key] = lease.id();
    }
    if (found.end) {
      attempt.phase = AttemptState::Phase::kEnded;
      attempt.report = *found.end;
    } else if (found.exit) {
      Finish(lease, attempt, found.exit);
    } else if (found.running) {
      attempt.phase = AttemptState::Phase::kRunning;
      attempt.report.set_state(v1::TaskReport::STATE_RUNNING);
    } else if (from.end) {
      FinishAs(lease, attempt, v1::TASK_END_REASON_LOST, "its lease ended before it was started");
    } else {
      lease.waiting.push_back(key);
    }
  }
}

}  // namespace houtu::agent
