// AgentCore and the master: registration, heartbeats, leases given and ended.
#include <fmt/format.h>

#include <utility>

#include "agent/core/agent_core.h"
#include "common/base/time.h"

namespace houtu::agent {
namespace {

/// Intervals without an echo after which the connection counts as dead.
constexpr int kSilentIntervalsMax = 5;

}  // namespace

void AgentCore::On(const MasterConnected&) {
  connected_ = true;
  registered_ = false;
  v1::AgentMessage message;
  v1::RegisterNode& hello = *message.mutable_register_();
  *hello.mutable_node() = options_.node;
  hello.mutable_node()->set_state(health_.state());
  hello.mutable_node()->set_message(health_.message());
  hello.mutable_node()->set_disk_free_bytes(disk_free_bytes_);
  hello.set_term_seen(terms_.master);
  for (const auto& [id, lease] : leases_) {
    if ((lease.accepted || lease.ended) && !lease.acknowledged) {
      *hello.add_leases() = lease.report;
    }
  }
  SendToMasterNow(std::move(message));
}

void AgentCore::On(const MasterDisconnected&) {
  connected_ = false;
  registered_ = false;
  next_heartbeat_ = absl::InfiniteFuture();
}

void AgentCore::On(const MasterSaid& event) {
  const v1::MasterCommand& command = event.command;
  if (RefuseStale(command)) {
    return;
  }
  switch (command.command_case()) {
    case v1::MasterCommand::kRegistered:
      registered_ = true;
      heartbeat_interval_ = DurationOr(command.registered().has_heartbeat_interval(),
                                       command.registered().heartbeat_interval(), absl::Seconds(1));
      echoed_at_ = now_;
      next_heartbeat_ = now_ + heartbeat_interval_;
      return;
    case v1::MasterCommand::kHeartbeat:
      echoed_at_ = now_;
      return;
    case v1::MasterCommand::kStart:
      return OnStartLease(command.start());
    case v1::MasterCommand::kEnd:
      return OnEndLease(command.end());
    case v1::MasterCommand::kAcknowledged:
      return OnLeaseEndAcknowledged(command.acknowledged().lease_id());
    case v1::MasterCommand::kListFiles:
      effects_.push_back(ListInputFiles{command.list_files()});
      return;
    case v1::MasterCommand::kForget:
      return OnForgetJobs(command.forget());
    case v1::MasterCommand::COMMAND_NOT_SET: {
      v1::AgentMessage message;
      message.mutable_refused()->set_command_id(command.command_id());
      message.mutable_refused()->set_reason("this agent does not know the command");
      return SendToMasterNow(std::move(message));
    }
  }
}

bool AgentCore::RefuseStale(const v1::MasterCommand& command) {
  if (command.term() < terms_.master) {
    v1::AgentMessage message;
    message.mutable_refused()->set_command_id(command.command_id());
    message.mutable_refused()->set_reason(
        fmt::format("stale term {}, the newest is {}", command.term(), terms_.master));
    SendToMasterNow(std::move(message));
    return true;
  }
  if (command.term() > terms_.master) {
    terms_.master = command.term();
    effects_.push_back(RecordTerms{terms_});
  }
  return false;
}

void AgentCore::OnStartLease(const v1::StartLease& start) {
  if (LeaseState* known = Find(start.lease().id()); known != nullptr) {
    if (known->accepted || known->ended) {
      ReportLease(*known);
    }
    return;
  }
  LeaseState& lease = leases_[start.lease().id()];
  lease.start = start;
  *lease.report.mutable_lease() = start.lease();
  lease.report.set_state(v1::LeaseReport::STATE_ACCEPTED);
  if (!health_.in_service()) {
    return EndedWithoutStart(lease, fmt::format("node out of service: {}", health_.message()));
  }
  lease.operation = LeaseState::Operation::kRecording;
  effects_.push_back(RecordLease{start});
}

void AgentCore::OnEndLease(const v1::EndLease& end) {
  LeaseState* lease = Find(end.lease_id());
  if (lease == nullptr) {
    // Never heard of, or acknowledged long ago: it holds nothing here, which is what is asked.
    v1::AgentMessage message;
    message.mutable_lease()->mutable_lease()->set_id(end.lease_id());
    message.mutable_lease()->mutable_lease()->set_node(options_.node.name());
    message.mutable_lease()->set_state(v1::LeaseReport::STATE_ENDED);
    message.mutable_lease()->set_end_reason(end.reason());
    return SendToMasterNow(std::move(message));
  }
  if (lease->ended) {
    return ReportLease(*lease);
  }
  BeginEnd(*lease, {.reason = end.reason(), .grace = FromProto(end.grace())});
}

void AgentCore::OnLeaseEndAcknowledged(const std::string& lease_id) {
  if (LeaseState* lease = Find(lease_id); lease != nullptr && lease->ended) {
    lease->acknowledged = true;
    MaybeForget(lease_id);
  }
}

void AgentCore::OnForgetJobs(const v1::ForgetJobs& forget) {
  std::vector<std::string> ended;
  for (const std::string& job : forget.job_ids()) {
    for (auto& [id, lease] : leases_) {
      if (lease.job() == job) {
        lease.orphaned = true;
        if (lease.ended) {
          ended.push_back(id);
        }
      }
    }
    terms_.managers.erase(job);
  }
  for (const std::string& id : ended) {
    DropAttempts(leases_[id]);
    MaybeForget(id);
  }
  effects_.push_back(RecordTerms{terms_});
  effects_.push_back(ForgetJobData{{forget.job_ids().begin(), forget.job_ids().end()}});
}

void AgentCore::OnHeartbeatDue(int64_t disk_free_bytes) {
  if (now_ - echoed_at_ > kSilentIntervalsMax * heartbeat_interval_) {
    next_heartbeat_ = absl::InfiniteFuture();
    effects_.push_back(ReconnectMaster{
        fmt::format("no heartbeat was answered for {}", absl::FormatDuration(now_ - echoed_at_))});
    return;
  }
  next_heartbeat_ = now_ + heartbeat_interval_;
  v1::AgentMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_sequence(++heartbeat_sequence_);
  heartbeat.set_state(health_.state());
  heartbeat.set_message(health_.message());
  heartbeat.set_disk_free_bytes(disk_free_bytes);
  SendToMasterNow(std::move(message));
}

void AgentCore::ReportHealthChange(bool was_in_service) {
  if (was_in_service != health_.in_service() && registered_) {
    OnHeartbeatDue(disk_free_bytes_);
  }
}

void AgentCore::ReportLease(const LeaseState& lease) {
  v1::AgentMessage message;
  *message.mutable_lease() = lease.report;
  SendToMasterNow(std::move(message));
}

void AgentCore::SendToMasterNow(v1::AgentMessage message) {
  if (connected_) {
    effects_.push_back(SendToMaster{std::move(message)});
  }
}

}  // namespace houtu::agent
