// AgentCore and job managers: who may command, which tasks are taken, what is acknowledged.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/core/agent_core.h"
#include "common/base/resources.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

/// Whether the spec's names lead nowhere but to its own job's folders, and it is no job manager's.
bool NamesAreSound(const v1::TaskSpec& spec) {
  return spec.id().stage() != kManagerStage && IsStageName(spec.id().stage()) &&
         std::all_of(spec.upstream().begin(), spec.upstream().end(),
                     [](const v1::PartitionSource& from) { return IsStageName(from.stage()); });
}

}  // namespace

void AgentCore::On(const ManagerHello& event) {
  if (absl::Status status = CheckHello(event); !status.ok()) {
    effects_.push_back(CloseSession{.session = event.session, .status = std::move(status)});
    return;
  }
  int64_t& newest = terms_.managers[event.job];
  if (event.term > newest) {
    newest = event.term;
    effects_.push_back(RecordTerms{terms_});
  }
  if (const auto older = sessions_.find(event.job); older != sessions_.end()) {
    effects_.push_back(CloseSession{
        .session = older->second,
        .status = absl::AbortedError("a newer session of this job's manager took its place")});
  }
  sessions_[event.job] = event.session;
  Welcome(event.session, event.job);
}

absl::Status AgentCore::CheckHello(const ManagerHello& hello) const {
  if (hello.datacenter != options_.node.datacenter()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "this agent is in datacenter {}; the manager of {} has no tasks here",
                 options_.node.datacenter(), hello.datacenter);
  }
  const bool holds = std::any_of(leases_.begin(), leases_.end(), [&hello](const auto& entry) {
    const v1::Lease& lease = entry.second.start.lease();
    return lease.job() == hello.job && !hello.token_sha256.empty() &&
           lease.token_sha256() == hello.token_sha256;
  });
  if (!holds) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "job {} holds no lease on {}, or the token shown is not its own", hello.job,
                 options_.node.name());
  }
  const auto newest = terms_.managers.find(hello.job);
  if (newest != terms_.managers.end() && hello.term < newest->second) {
    return Error(absl::StatusCode::kFailedPrecondition, "stale term {}, the newest is {}",
                 hello.term, newest->second);
  }
  return absl::OkStatus();
}

void AgentCore::Welcome(SessionId session, const std::string& job) {
  v1::TaskMessage message;
  message.mutable_welcome()->set_node(options_.node.name());
  for (const auto& [key, lease_id] : lease_of_) {
    if (key.job == job) {
      *message.mutable_welcome()->add_tasks() = leases_[lease_id].attempts[key].report;
    }
  }
  effects_.push_back(SendToManager{.session = session, .message = std::move(message)});
}

void AgentCore::On(const ManagerGone& event) {
  absl::erase_if(sessions_, [&](const auto& entry) { return entry.second == event.session; });
}

void AgentCore::On(const ManagerSaid& event) {
  const auto session = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second == event.session;
  });
  if (session == sessions_.end()) {
    return;  // closed meanwhile
  }
  const std::string job = session->first;
  switch (event.command.command_case()) {
    case v1::TaskCommand::kStart:
      for (const v1::TaskSpec& spec : event.command.start().tasks()) {
        OnStartTask(event.session, job, spec);
      }
      return;
    case v1::TaskCommand::kStop:
      return OnStopTask(event.session, job, event.command.stop());
    case v1::TaskCommand::kAcknowledge:
      return OnAcknowledge(job, event.command.acknowledge());
    case v1::TaskCommand::kHello:
    case v1::TaskCommand::COMMAND_NOT_SET:
      effects_.push_back(CloseSession{
          .session = event.session,
          .status = absl::InvalidArgumentError("expected start, stop or acknowledge")});
      sessions_.erase(session);
  }
}

void AgentCore::OnStartTask(SessionId session, const std::string& job, const v1::TaskSpec& spec) {
  const AttemptKey key = KeyOf(spec.id());
  if (const auto known = lease_of_.find(key); known != lease_of_.end() && key.job == job) {
    return ReportTask(leases_[known->second].attempts[key]);
  }
  LeaseState* lease = Find(spec.lease_id());
  if (std::string reason = WhyRefused(lease, job, spec); !reason.empty()) {
    return RefuseTask(session, spec.id(), std::move(reason));
  }
  if (!health_.in_service() && lease->InContainer() == 0) {
    // No start is tried on a node that would fail it; the lease goes back.
    lease->fault = health_.message();
    RefuseTask(session, spec.id(), "node out of service: " + health_.message());
    return Advance(*lease);
  }
  AttemptState& attempt = lease->attempts[key];
  attempt.spec = spec;
  *attempt.report.mutable_id() = spec.id();
  attempt.report.set_lease_id(spec.lease_id());
  attempt.report.set_state(v1::TaskReport::STATE_PREPARING);
  lease_of_[key] = spec.lease_id();
  lease->waiting.push_back(key);
  ReportTask(attempt);
  Advance(*lease);
}

std::string AgentCore::WhyRefused(const LeaseState* lease, const std::string& job,
                                  const v1::TaskSpec& spec) const {
  if (spec.id().job() != job || !NamesAreSound(spec) || spec.command().empty()) {
    return fmt::format("not a task of job {} with a command and names of stages", job);
  }
  if (lease == nullptr || lease->job() != job || lease->IsManagers()) {
    return fmt::format("no lease {} of this job on {}", spec.lease_id(), options_.node.name());
  }
  if (lease->ending || lease->ended || lease->fault) {
    return fmt::format("lease {} is ending", lease->id());
  }
  Resources held = Resources::FromProto(spec.resources());
  for (const auto& [key, attempt] : lease->attempts) {
    if (attempt.Holds()) {
      held += Resources::FromProto(attempt.spec.resources());
    }
  }
  const Resources room = Resources::FromProto(lease->start.lease().resources());
  if (!held.FitsIn(room)) {
    return fmt::format("lease {} has no room: its tasks would hold {} of {}", lease->id(),
                       held.Describe(), room.Describe());
  }
  return "";
}

void AgentCore::RefuseTask(SessionId session, const v1::AttemptId& id, std::string reason) {
  v1::TaskMessage message;
  *message.mutable_refused()->mutable_id() = id;
  message.mutable_refused()->set_reason(std::move(reason));
  effects_.push_back(SendToManager{.session = session, .message = std::move(message)});
}

void AgentCore::OnStopTask(SessionId session, const std::string& job, const v1::StopTask& stop) {
  const AttemptKey key = KeyOf(stop.id());
  const auto known = lease_of_.find(key);
  if (key.job != job || known == lease_of_.end()) {
    v1::TaskReport report;
    *report.mutable_id() = stop.id();
    report.set_state(v1::TaskReport::STATE_ENDED);
    report.set_end_reason(v1::TASK_END_REASON_LOST);
    report.set_message("this agent does not know the attempt");
    effects_.push_back(SendTaskReport{.session = session, .report = std::move(report)});
    return;
  }
  LeaseState& lease = leases_[known->second];
  StopAttempt(lease, lease.attempts[key], stop.reason());
  Advance(lease);
}

void AgentCore::OnAcknowledge(const std::string& job, const v1::AcknowledgeTasks& acknowledge) {
  absl::btree_map<std::string, std::vector<AttemptKey>> forgotten;
  for (const v1::AttemptId& id : acknowledge.ids()) {
    const auto known = lease_of_.find(KeyOf(id));
    if (id.job() == job && known != lease_of_.end() &&
        !leases_[known->second].attempts[known->first].Holds()) {
      forgotten[known->second].push_back(known->first);
    }
  }
  DiscardOutputs discard;
  for (const v1::AttemptId& id : acknowledge.discard()) {
    if (id.job() == job && IsStageName(id.stage())) {
      discard.keys.push_back(KeyOf(id));
    }
  }
  if (!discard.keys.empty()) {
    effects_.push_back(std::move(discard));
  }
  for (auto& [lease_id, keys] : forgotten) {
    for (const AttemptKey& key : keys) {
      leases_[lease_id].attempts.erase(key);
      lease_of_.erase(key);
    }
    effects_.push_back(ForgetAttempts{.lease_id = lease_id, .keys = std::move(keys)});
    MaybeForget(lease_id);
  }
}

}  // namespace houtu::agent
