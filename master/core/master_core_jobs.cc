// MasterCore: jobs, their managers, their desires and grants.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/commands.h"
#include "master/core/manager_placement.h"
#include "master/core/master_core.h"

namespace houtu::master {

void MasterCore::AddJob(const ActiveJob& info) {
  const std::string& id = info.record.id();
  const auto [it, is_new] = jobs_.emplace(id, Job{.info = info});
  if (!is_new) {
    return;
  }
  if (info.manager_known) {
    it->second.manager_expected_until = now_ + options_.node_timeout;
  }
  allocator_->Apply(JobAdded{.job = id,
                             .account = info.record.job().account(),
                             .order = next_order_++,
                             .bid_microcredits = info.record.job().bid_microcredits()});
}

void MasterCore::On(const JobActive& event) { AddJob(event.job); }

void MasterCore::On(const JobEnded& event) {
  const auto it = jobs_.find(event.job);
  if (it == jobs_.end()) {
    return;
  }
  if (it->second.session.has_value()) {
    effects_.push_back(EndSession{.session = *it->second.session, .reason = "the job ended"});
  }
  allocator_->Apply(JobRemoved{.job = event.job});
  for (const std::string& id : leases_.OfJob(event.job)) {
    CommandEnd(leases_.Find(id), v1::LEASE_END_REASON_JOB_ENDED);
  }
  jobs_.erase(it);
  ended_jobs_.push_back(event.job);
  if (ended_jobs_.size() > kEndedJobsMax) {
    ended_jobs_.erase(ended_jobs_.begin());
  }
  for (const auto& [name, node] : nodes_.all()) {
    ToNode(name, ForgetCommand(term_, {event.job}));
  }
}

void MasterCore::On(const CancelRequested& event) {
  if (const auto it = jobs_.find(event.job); it != jobs_.end()) {
    it->second.cancel_requested = true;
  }
}

/// A manager that runs sees the request by itself; a job whose manager has no room yet is ended
/// here, by the master of its primary datacenter.
void MasterCore::CancelWithoutManager() {
  for (auto& [id, job] : jobs_) {
    if (job.cancel_requested && job.manager_lease.empty() && now_ >= job.manager_expected_until &&
        job.info.record.primary_datacenter() == options_.datacenter) {
      job.cancel_requested = false;
      effects_.push_back(EndJob{.job = id,
                                .state = v1::JOB_STATE_CANCELLED,
                                .message = "cancelled before its manager ran"});
    }
  }
}

void MasterCore::StartManagers() {
  std::vector<Job*> waiting;
  for (auto& [id, job] : jobs_) {
    const NodeEntry* last = job.info.manager_known ? nodes_.Find(job.info.manager_node) : nullptr;
    const bool may_run_elsewhere = now_ < job.manager_expected_until && last == nullptr;
    if (job.manager_lease.empty() && now_ >= job.manager_not_before && !may_run_elsewhere &&
        job.manager_failures < kManagerFailuresMax) {
      waiting.push_back(&job);
    }
  }
  // Job ids rise with time: the oldest first.
  for (Job* job : waiting) {
    StartManager(job);
  }
}

void MasterCore::StartManager(Job* job) {
  const std::optional<std::string> node =
      ChooseManagerNode(options_.manager_resources, nodes_, leases_, *allocator_);
  if (!node.has_value()) {
    MakeRoomFor(*job);
    return;
  }
  const v1::Lease lease =
      NewLease(NewLeaseId(), *job, *node, options_.manager_resources, v1::Lease::KIND_MANAGER);
  job->manager_lease = lease.id();
  job->info.manager_known = false;
  allocator_->Apply(
      LeaseStarted{.lease = lease.id(), .node = *node, .shape = options_.manager_resources});
  CommandStart(leases_.Add(lease, LeaseEntry::State::kSent));
}

/// Where no node has room for the manager of a job that holds leases, these may be what fills the
/// nodes, and without its manager nobody gives them back: one of them is ended, then the next. What
/// ran in it runs again and counts as no attempt.
void MasterCore::MakeRoomFor(const Job& job) {
  LeaseEntry* chosen = nullptr;
  for (const std::string& id : leases_.OfJob(job.info.record.id())) {
    LeaseEntry* lease = leases_.Find(id);
    if (lease->lease.kind() != v1::Lease::KIND_WORKER) {
      continue;
    }
    if (lease->state == LeaseEntry::State::kEnding) {
      return;  // its room is on the way
    }
    const NodeEntry* node = nodes_.Find(lease->lease.node());
    const std::optional<Resources> free = allocator_->Free(lease->lease.node());
    if (node != nullptr && node->Takes() && free.has_value() &&
        options_.manager_resources.FitsIn(*free + Resources::FromProto(lease->lease.resources()))) {
      chosen = lease;
    }
  }
  if (chosen != nullptr) {
    CommandEnd(chosen, v1::LEASE_END_REASON_PREEMPTED);
  }
}

void MasterCore::OnManagerLeaseEnded(Job* job, v1::LeaseEndReason reason,
                                     const std::string& message) {
  job->manager_lease.clear();
  job->manager_trouble = message;
  if (reason == v1::LEASE_END_REASON_NODE_LOST) {
    return;  // started again at once, elsewhere
  }
  if (now_ - job->manager_since >= kManagerStableAfter) {
    job->manager_failures = 0;
  }
  job->manager_since = absl::InfiniteFuture();
  ++job->manager_failures;
  const int shift = std::min(job->manager_failures - 1, 10);
  job->manager_not_before =
      now_ + std::min(kManagerBackoffFirst * (1 << shift), kManagerBackoffMax);
  if (job->manager_failures >= kManagerFailuresMax) {
    effects_.push_back(EndJob{
        .job = job->info.record.id(),
        .state = v1::JOB_STATE_FAILED,
        .message = fmt::format("its manager in {} ended {} times in a row; the last time: {}",
                               options_.datacenter, job->manager_failures, message)});
  }
}

void MasterCore::On(const ManagerConnected& event) {
  const auto it = jobs_.find(event.job);
  if (it == jobs_.end()) {
    effects_.push_back(
        EndSession{.session = event.session, .reason = "no such job is active here"});
    return;
  }
  Job& job = it->second;
  if (event.term < job.manager_term) {
    effects_.push_back(EndSession{
        .session = event.session,
        .reason = fmt::format("stale term {}, the newest is {}", event.term, job.manager_term)});
    return;
  }
  if (job.session.has_value()) {
    effects_.push_back(EndSession{.session = *job.session, .reason = "a newer session took over"});
  }
  job.session = event.session;
  if (event.term > job.manager_term) {
    job.manager_since = now_;
  }
  job.manager_term = event.term;
  job.manager_trouble.clear();
  job.told_reasons.clear();
  ClearDesire(event.job, &job);
  SendWelcome(job);
}

void MasterCore::SendWelcome(const Job& job) {
  v1::JobMasterMessage message;
  message.mutable_welcome()->set_term(term_);
  for (const std::string& id : leases_.OfJob(job.info.record.id())) {
    const LeaseEntry* lease = leases_.Find(id);
    if (lease->lease.kind() == v1::Lease::KIND_WORKER && lease->state == LeaseEntry::State::kHeld) {
      *message.mutable_welcome()->add_leases() = GrantedMessage(*lease);
    }
  }
  effects_.push_back(SendToManager{.session = *job.session, .message = std::move(message)});
}

void MasterCore::On(const ManagerDisconnected& event) {
  if (Job* job = FindBySession(event.job, event.session); job != nullptr) {
    job->session.reset();
    ClearDesire(event.job, job);
  }
}

/// Nobody would use a container that is granted while the manager is away.
void MasterCore::ClearDesire(const std::string& id, Job* job) {
  for (const auto& [shape, wanted] : std::exchange(job->desire, {})) {
    allocator_->Apply(DemandChanged{.job = id, .shape = shape});
  }
}

void MasterCore::On(const DesireChanged& event) {
  Job* job = FindBySession(event.job, event.session);
  if (job == nullptr) {
    return;
  }
  std::map<Shape, Wanted> desire;
  for (const v1::Demand& demand : event.desire.demands()) {
    Wanted& wanted = desire[Resources::FromProto(demand.resources())];
    wanted.containers += std::max(demand.containers(), 0);
    for (const auto& [node, containers] : demand.nodes()) {
      wanted.nodes[node] += containers;
    }
    wanted.image = demand.image();
    wanted.network = demand.network();
    wanted.stage = demand.stage();
  }
  for (const auto& [shape, wanted] : job->desire) {
    if (!desire.contains(shape)) {
      allocator_->Apply(DemandChanged{.job = event.job, .shape = shape});
    }
  }
  for (const auto& [shape, wanted] : desire) {
    allocator_->Apply(DemandChanged{.job = event.job,
                                    .shape = shape,
                                    .containers = wanted.containers,
                                    .preferred_nodes = wanted.nodes});
  }
  job->desire = std::move(desire);
}

void MasterCore::On(const LeaseReleased& event) {
  LeaseEntry* lease = leases_.Find(event.lease);
  if (FindBySession(event.job, event.session) != nullptr && lease != nullptr &&
      lease->lease.job() == event.job && lease->lease.kind() == v1::Lease::KIND_WORKER) {
    CommandEnd(lease, v1::LEASE_END_REASON_RELEASED);
  }
}

/// The plan is checked again where it is committed.
void MasterCore::CommitGrant(const Grant& grant) {
  const auto job = jobs_.find(grant.job);
  const std::optional<Resources> free = allocator_->Free(grant.node);
  if (job == jobs_.end() || !job->second.session.has_value() || !free.has_value() ||
      !grant.shape.FitsIn(*free)) {
    return;
  }
  const v1::Lease lease =
      NewLease(NewLeaseId(), job->second, grant.node, grant.shape, v1::Lease::KIND_WORKER);
  allocator_->Apply(LeaseStarted{
      .lease = lease.id(), .job = grant.job, .node = grant.node, .shape = grant.shape});
  CommandStart(leases_.Add(lease, LeaseEntry::State::kSent));
}

void MasterCore::TellReasons() {
  const auto same = [](const v1::WaitReason& a, const v1::WaitReason& b) {
    return a.code() == b.code() && a.message() == b.message() && a.stage() == b.stage();
  };
  for (auto& [id, job] : jobs_) {
    if (!job.session.has_value() ||
        std::equal(job.reasons.begin(), job.reasons.end(), job.told_reasons.begin(),
                   job.told_reasons.end(), same)) {
      continue;
    }
    v1::JobMasterMessage message;
    message.mutable_reasons();
    for (const v1::WaitReason& reason : job.reasons) {
      *message.mutable_reasons()->add_reasons() = reason;
    }
    effects_.push_back(SendToManager{.session = *job.session, .message = std::move(message)});
    job.told_reasons = job.reasons;
  }
}

v1::LeaseGranted MasterCore::GrantedMessage(const LeaseEntry& lease) const {
  v1::LeaseGranted granted;
  *granted.mutable_lease() = lease.lease;
  const NodeEntry& node = nodes_.all().at(lease.lease.node());
  granted.set_agent_address(node.node.agent_address());
  granted.set_rack(node.node.rack());
  return granted;
}

MasterCore::Job* MasterCore::FindBySession(const std::string& job, SessionId session) {
  const auto it = jobs_.find(job);
  return it != jobs_.end() && it->second.session == session ? &it->second : nullptr;
}

std::string MasterCore::NewLeaseId() {
  return fmt::format("{}.{}.{}", options_.datacenter, term_, next_lease_++);
}

v1::Lease MasterCore::NewLease(const std::string& id, const Job& job, const std::string& node,
                               const Shape& shape, v1::Lease::Kind kind) {
  v1::Lease lease;
  lease.set_id(id);
  lease.set_kind(kind);
  lease.set_job(job.info.record.id());
  lease.set_account(job.info.record.job().account());
  lease.set_node(node);
  *lease.mutable_resources() = shape.ToProto();
  if (const auto it = job.desire.find(shape);
      it != job.desire.end() && kind == v1::Lease::KIND_WORKER) {
    lease.set_image(it->second.image);
    lease.set_network(it->second.network);
  }
  lease.set_token_sha256(Sha256(job.info.record.token()));
  *lease.mutable_granted_at() = ToProto(now_);
  return lease;
}

}  // namespace houtu::master
