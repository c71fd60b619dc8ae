// AgentCore and a lease's container: from its record to its end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/core/agent_core.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

/// Time beyond the grace after which a lease's tasks are no longer waited for.
constexpr absl::Duration kStopSlack = absl::Seconds(10);
constexpr absl::Duration kDestroyPauseMax = absl::Seconds(30);

}  // namespace

LeaseState* AgentCore::Find(const std::string& lease_id) {
  const auto it = leases_.find(lease_id);
  return it == leases_.end() ? nullptr : &it->second;
}

void AgentCore::Advance(LeaseState& lease) {
  if (lease.operation != LeaseState::Operation::kNone || lease.ended || now_ < lease.retry_at) {
    return;
  }
  if (lease.ending) {
    return AdvanceEnding(lease);
  }
  if (!lease.container_up) {
    const v1::Lease& asked = lease.start.lease();
    if (!lease.waiting.empty()) {
      const v1::TaskSpec& spec = lease.attempts[lease.waiting.front()].spec;
      return StartContainerFor(lease, ShapeOf(spec.image(), spec.network()));
    }
    return StartContainerFor(lease, lease.IsManagers() ? ShapeOf("host", v1::NETWORK_HOST)
                                                       : ShapeOf(asked.image(), asked.network()));
  }
  if (lease.fault && lease.Holding() == 0) {
    return BeginEnd(lease, {.reason = v1::LEASE_END_REASON_CONTAINER_FAILED,
                            .message = *lease.fault,
                            .node_fault = true});
  }
  LaunchWaiting(lease);
}

void AgentCore::StartContainerFor(LeaseState& lease, const ContainerShape& shape) {
  lease.shape = shape;
  lease.operation = LeaseState::Operation::kStarting;
  effects_.push_back(
      StartContainer{.start = lease.start, .shape = shape, .generation = ++lease.generation});
}

void AgentCore::AdvanceEnding(LeaseState& lease) {
  if (now_ >= lease.ending->deadline) {
    lease.container_broken = true;
  }
  StopAll(lease);
  if (lease.container_up && (lease.container_broken || lease.InContainer() == 0)) {
    lease.operation = LeaseState::Operation::kDestroying;
    effects_.push_back(DestroyContainer{lease.id()});
    return;
  }
  if (lease.container_up || lease.Holding() > 0) {
    return;
  }
  lease.report.set_state(v1::LeaseReport::STATE_ENDED);
  lease.report.set_end_reason(lease.ending->reason);
  lease.report.set_message(lease.ending->message);
  lease.report.set_node_fault(lease.ending->node_fault);
  lease.operation = LeaseState::Operation::kRecordingEnd;
  effects_.push_back(RecordLeaseEnd{lease.report});
}

void AgentCore::StopAll(LeaseState& lease) {
  const bool failed = lease.ending->reason == v1::LEASE_END_REASON_CONTAINER_FAILED;
  for (auto& [key, attempt] : lease.attempts) {
    if (attempt.phase == AttemptState::Phase::kWaiting && failed) {
      FinishAs(lease, attempt, v1::TASK_END_REASON_START_FAILED, lease.ending->message);
    } else if (!lease.container_broken && !attempt.stop_wanted) {
      StopAttempt(lease, attempt, "its lease ended");
    }
  }
  lease.waiting.clear();
}

void AgentCore::BeginEnd(LeaseState& lease, LeaseEnding ending) {
  if (lease.ending || lease.ended) {
    return;
  }
  ending.deadline = now_ + ending.grace + kStopSlack;
  lease.ending = std::move(ending);
  Advance(lease);
}

void AgentCore::EndedWithoutStart(LeaseState& lease, const std::string& message) {
  lease.ended = true;
  lease.report.set_state(v1::LeaseReport::STATE_ENDED);
  lease.report.set_end_reason(v1::LEASE_END_REASON_CONTAINER_FAILED);
  lease.report.set_message(message);
  lease.report.set_node_fault(true);
  // It was never recorded (the disk may be what is broken), so a restart forgets it, and the master
  // learns from the registration that it is not there.
  ReportLease(lease);
}

void AgentCore::On(const LeaseRecorded& event) {
  LeaseState* lease = Find(event.lease_id);
  if (lease == nullptr) {
    return;
  }
  lease->operation = LeaseState::Operation::kNone;
  if (!event.status.ok()) {
    const std::string message = "the lease could not be recorded: " + Message(event.status);
    NodeFault(message);
    return EndedWithoutStart(*lease, message);
  }
  lease->accepted = true;
  ReportLease(*lease);
  Advance(*lease);
}

void AgentCore::On(const ContainerStarted& event) {
  LeaseState* lease = Find(event.lease_id);
  if (lease == nullptr) {
    return;
  }
  lease->operation = LeaseState::Operation::kNone;
  lease->container_up = true;  // also after a failure: what is left of it must be removed
  if (!event.status.ok()) {
    lease->container_broken = true;
    std::string message = "container not started: " + Message(event.status);
    if (event.node_fault) {
      NodeFault(message);
    }
    BeginEnd(*lease, {.reason = v1::LEASE_END_REASON_CONTAINER_FAILED,
                      .message = std::move(message),
                      .node_fault = event.node_fault});
    return Advance(*lease);
  }
  health_.StartSucceeded();
  if (lease->report.state() != v1::LeaseReport::STATE_READY && !lease->ending) {
    lease->report.set_state(v1::LeaseReport::STATE_READY);
    ReportLease(*lease);
  }
  Advance(*lease);
}

void AgentCore::On(const ContainerEnded& event) {
  LeaseState* lease = Find(event.lease_id);
  if (lease == nullptr || lease->generation != event.generation || !lease->container_up ||
      lease->operation == LeaseState::Operation::kDestroying) {
    return;
  }
  lease->container_broken = true;
  BeginEnd(*lease, {.reason = v1::LEASE_END_REASON_CONTAINER_FAILED,
                    .message = "its container ended by itself"});
  Advance(*lease);
}

void AgentCore::On(const ContainerDestroyed& event) {
  LeaseState* lease = Find(event.lease_id);
  if (lease == nullptr) {
    return;
  }
  lease->operation = LeaseState::Operation::kNone;
  if (!event.status.ok()) {
    NodeFault("container not removed: " + Message(event.status));
    lease->retry_at = now_ + lease->retry_pause;
    lease->retry_pause = std::min(lease->retry_pause * 2, kDestroyPauseMax);
    return;
  }
  lease->retry_at = absl::InfinitePast();
  lease->container_up = false;
  for (auto& [key, attempt] : lease->attempts) {
    if (attempt.phase != AttemptState::Phase::kRunning) {
      continue;
    }
    const auto exit = std::find_if(event.exits.begin(), event.exits.end(),
                                   [&key = key](const TaskExit& e) { return e.id == key; });
    if (exit != event.exits.end()) {
      Finish(*lease, attempt, *exit);
    } else if (attempt.stop_wanted) {
      FinishAs(*lease, attempt, v1::TASK_END_REASON_STOPPED, attempt.stop_reason);
    } else {
      FinishAs(*lease, attempt, v1::TASK_END_REASON_LOST, "its container went away");
    }
  }
  Advance(*lease);
}

void AgentCore::On(const LeaseEndRecorded& event) {
  LeaseState* lease = Find(event.lease_id);
  if (lease == nullptr) {
    return;
  }
  lease->operation = LeaseState::Operation::kNone;
  lease->end_recorded = true;
  lease->ended = true;
  if (lease->IsManagers() || lease->orphaned) {
    DropAttempts(*lease);
  }
  ReportLease(*lease);
}

void AgentCore::DropAttempts(LeaseState& lease) {
  for (const auto& [key, attempt] : lease.attempts) {
    lease_of_.erase(key);
  }
  lease.attempts.clear();
}

void AgentCore::MaybeForget(const std::string& lease_id) {
  const LeaseState& lease = leases_[lease_id];
  if (!lease.ended || !lease.acknowledged || !lease.attempts.empty()) {
    return;
  }
  if (lease.accepted) {
    effects_.push_back(ForgetLease{lease_id});
  }
  leases_.erase(lease_id);
}

}  // namespace houtu::agent
