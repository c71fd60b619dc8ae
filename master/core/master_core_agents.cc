// MasterCore: agents, nodes and the leases on them.
#include <set>
#include <utility>

#include "master/core/commands.h"
#include "master/core/master_core.h"

namespace houtu::master {

void MasterCore::On(const AgentRegistered& event) {
  std::optional<SessionId> replaced;
  const NodeEntry& node = nodes_.Register(now_, event.session, event.node.node(), &replaced);
  if (replaced.has_value()) {
    effects_.push_back(EndSession{.session = *replaced, .reason = "the node registered anew"});
  }
  ToNode(node.node.name(), RegisteredCommand(term_, options_.heartbeat_interval));
  // The room is told first: adopted leases need their node.
  allocator_->Apply(NodeUp{.node = node.node.name(),
                           .rack = node.node.rack(),
                           .capacity = Resources::FromProto(node.node.capacity())});
  for (const v1::LeaseReport& report : event.node.leases()) {
    AdoptLease(node.node.name(), report);
  }
  ResendCommands(node, event.node);
  SetNodeUp(node);
  if (!ended_jobs_.empty()) {
    ToNode(node.node.name(), ForgetCommand(term_, ended_jobs_));
  }
}

/// Takes a lease that the agent reports at its registration into the book, whoever granted it.
void MasterCore::AdoptLease(const std::string& node, const v1::LeaseReport& report) {
  const std::string& id = report.lease().id();
  LeaseEntry* known = leases_.Find(id);
  if (report.state() == v1::LeaseReport::STATE_ENDED) {
    if (known != nullptr) {
      OnLeaseEnded(id, report.end_reason(), report.message(), report.node_fault());
    }
    ToNode(node, AcknowledgeCommand(term_, id));
    return;
  }
  if (known != nullptr) {
    if (known->state == LeaseEntry::State::kSent) {
      OnLeaseAccepted(known);
    }
    return;
  }
  const auto job = jobs_.find(report.lease().job());
  if (job == jobs_.end()) {
    ToNode(node, EndCommand(term_, id, v1::LEASE_END_REASON_JOB_ENDED, kLeaseEndGrace));
    return;
  }
  const bool is_manager = report.lease().kind() == v1::Lease::KIND_MANAGER;
  if (is_manager && !job->second.manager_lease.empty()) {
    // Two managers after a failover: the newer term wins anyway (it is fenced); keep the one we
    // know.
    ToNode(node, EndCommand(term_, id, v1::LEASE_END_REASON_RELEASED, kLeaseEndGrace));
    return;
  }
  LeaseEntry& lease = leases_.Add(report.lease(), LeaseEntry::State::kSent);
  allocator_->Apply(LeaseStarted{
      .lease = id,
      .job = is_manager ? std::nullopt : std::optional<std::string>(report.lease().job()),
      .node = node,
      .shape = Resources::FromProto(report.lease().resources())});
  if (is_manager) {
    job->second.manager_lease = id;
  }
  OnLeaseAccepted(&lease);
}

/// What the agent does not know although it was commanded, or still has although it should not.
void MasterCore::ResendCommands(const NodeEntry& node, const v1::RegisterNode& registration) {
  std::set<std::string> reported;
  for (const v1::LeaseReport& report : registration.leases()) {
    reported.insert(report.lease().id());
  }
  for (const std::string& id : leases_.OnNode(node.node.name())) {
    const LeaseEntry* lease = leases_.Find(id);
    if (!reported.contains(id)) {
      if (lease->state == LeaseEntry::State::kSent) {
        CommandStart(*lease);
      } else {
        OnLeaseEnded(id, v1::LEASE_END_REASON_CONTAINER_FAILED,
                     "the agent does not know it any more", /*node_fault=*/true);
      }
    } else if (lease->state == LeaseEntry::State::kEnding) {
      ToNode(node.node.name(), EndCommand(term_, id, lease->end_reason, kLeaseEndGrace));
    }
  }
}

void MasterCore::SetNodeUp(const NodeEntry& node) {
  if (node.Takes()) {
    allocator_->Apply(NodeUp{.node = node.node.name(),
                             .rack = node.node.rack(),
                             .capacity = Resources::FromProto(node.node.capacity())});
  } else {
    allocator_->Apply(NodeDown{.node = node.node.name()});
  }
}

void MasterCore::On(const AgentSessionEnded& event) {
  if (NodeEntry* node = nodes_.FindBySession(event.node, event.session); node != nullptr) {
    node->session.reset();
    SetNodeUp(*node);
  }
}

void MasterCore::On(const AgentHeartbeat& event) {
  NodeEntry* node = nodes_.FindBySession(event.node, event.session);
  if (node == nullptr) {
    return;
  }
  node->heard_at = now_;
  node->node.set_disk_free_bytes(event.heartbeat.disk_free_bytes());
  node->node.set_message(event.heartbeat.message());
  if (node->node.state() != event.heartbeat.state()) {
    node->node.set_state(event.heartbeat.state());
    SetNodeUp(*node);
  }
  ToNode(event.node, HeartbeatCommand(term_, event.heartbeat.sequence()));
}

void MasterCore::On(const LeaseReported& event) {
  NodeEntry* node = nodes_.FindBySession(event.node, event.session);
  if (node == nullptr) {
    return;
  }
  node->heard_at = now_;
  const std::string& id = event.report.lease().id();
  LeaseEntry* lease = leases_.Find(id);
  if (event.report.state() == v1::LeaseReport::STATE_ENDED) {
    if (lease != nullptr) {
      OnLeaseEnded(id, event.report.end_reason(), event.report.message(),
                   event.report.node_fault());
    }
    ToNode(event.node, AcknowledgeCommand(term_, id));
    return;
  }
  if (lease != nullptr && lease->state == LeaseEntry::State::kSent) {
    OnLeaseAccepted(lease);
  }
}

void MasterCore::OnLeaseAccepted(LeaseEntry* lease) {
  lease->state = LeaseEntry::State::kHeld;
  const Job& job = jobs_.at(lease->lease.job());
  if (lease->lease.kind() == v1::Lease::KIND_WORKER && job.session.has_value()) {
    v1::JobMasterMessage message;
    *message.mutable_granted() = GrantedMessage(*lease);
    effects_.push_back(SendToManager{.session = *job.session, .message = std::move(message)});
  }
}

void MasterCore::OnLeaseEnded(const std::string& id, v1::LeaseEndReason reason,
                              const std::string& message, bool node_fault) {
  const LeaseEntry lease = *leases_.Find(id);
  leases_.Remove(id);
  allocator_->Apply(LeaseEnded{.lease = id});
  const auto job = jobs_.find(lease.lease.job());
  if (job == jobs_.end()) {
    return;
  }
  if (lease.lease.kind() == v1::Lease::KIND_MANAGER) {
    OnManagerLeaseEnded(&job->second, reason, message);
  } else if (job->second.session.has_value() && lease.state != LeaseEntry::State::kSent) {
    effects_.push_back(SendToManager{.session = *job->second.session,
                                     .message = RevokedMessage(id, reason, message, node_fault)});
  }
}

void MasterCore::LoseNode(const std::string& name) {
  allocator_->Apply(NodeDown{.node = name});
  for (const std::string& id : leases_.OnNode(name)) {
    OnLeaseEnded(id, v1::LEASE_END_REASON_NODE_LOST, "node " + name + " is lost");
  }
}

void MasterCore::CommandEnd(LeaseEntry* lease, v1::LeaseEndReason reason) {
  if (lease->state == LeaseEntry::State::kEnding) {
    return;
  }
  lease->state = LeaseEntry::State::kEnding;
  lease->end_reason = reason;
  ToNode(lease->lease.node(), EndCommand(term_, lease->lease.id(), reason, kLeaseEndGrace));
}

void MasterCore::CommandStart(const LeaseEntry& lease) {
  const Job& job = jobs_.at(lease.lease.job());
  const bool is_manager = lease.lease.kind() == v1::Lease::KIND_MANAGER;
  ToNode(lease.lease.node(),
         StartCommand(term_, lease.lease, is_manager ? job.info.record.token() : std::string(),
                      job.info.account_number));
}

void MasterCore::ToNode(const std::string& node, v1::MasterCommand command) {
  // Without a session the command waits for the node's registration, where ResendCommands finds it.
  if (const NodeEntry* entry = nodes_.Find(node); entry != nullptr && entry->session.has_value()) {
    effects_.push_back(SendToAgent{.session = *entry->session, .command = std::move(command)});
  }
}

}  // namespace houtu::master
