// SubJob: leases, agents, and what is lost with them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/sub_job.h"

namespace houtu::jobmanager {
namespace {

std::string Words(v1::LeaseEndReason reason) {
  static const auto* const kWords = new std::map<v1::LeaseEndReason, std::string>{
      {v1::LEASE_END_REASON_RELEASED, "its lease was given back"},
      {v1::LEASE_END_REASON_JOB_ENDED, "its job ended"},
      {v1::LEASE_END_REASON_NODE_LOST, "its node went away"},
      {v1::LEASE_END_REASON_CONTAINER_FAILED, "its container ended"},
      {v1::LEASE_END_REASON_PREEMPTED, "its lease was taken back for another job"}};
  const auto it = kWords->find(reason);
  return it == kWords->end() ? "its lease ended" : it->second;
}

}  // namespace

void SubJob::MasterUp(const v1::JobMasterWelcome& welcome, absl::Time now) {
  master_up_ = true;
  leases_told_ = true;
  told_.reset();
  more_waits_ = true;
  std::set<std::string> listed;
  for (const v1::LeaseGranted& granted : welcome.leases()) {
    listed.insert(granted.lease().id());
    LeaseGranted(granted, now);
  }
  for (const auto& [id, lease] : leases_.all()) {
    if (!listed.contains(id)) {
      HeldLease* held = leases_.Find(id);
      held->unlisted_since = std::min(held->unlisted_since, now);
    }
  }
  Settle(now);
}

void SubJob::MasterDown() { master_up_ = false; }

void SubJob::LeaseGranted(const v1::LeaseGranted& granted, absl::Time now) {
  if (!leases_.Add(granted, now)) {
    leases_.Find(granted.lease().id())->unlisted_since = absl::InfiniteFuture();
    return;
  }
  OpenAgentOf(*leases_.Find(granted.lease().id()));
}

void SubJob::OpenAgentOf(const HeldLease& lease) {
  const auto [it, is_new] = agents_.try_emplace(lease.node);
  if (is_new || it->second.address != lease.agent_address) {
    it->second.address = lease.agent_address;
    outbox_.Add(OpenAgent{lease.node, lease.agent_address});
  }
}

void SubJob::LeaseRevoked(const v1::LeaseRevoked& revoked, absl::Time now) {
  HeldLease* held = leases_.Find(revoked.lease_id());
  if (held == nullptr) {
    return;
  }
  const std::string node = held->node;
  std::string why = Words(revoked.reason());
  if (!revoked.message().empty()) {
    why += ": " + revoked.message();
  }
  if (revoked.reason() == v1::LEASE_END_REASON_CONTAINER_FAILED) {
    ContainerFailed(*held, revoked, why, now);
  }
  LoseLease(revoked.lease_id(), why, now);
  if (revoked.reason() == v1::LEASE_END_REASON_NODE_LOST) {
    LosePartitionsOn(node);
  }
  Settle(now);
}

void SubJob::ContainerFailed(const HeldLease& lease, const v1::LeaseRevoked& revoked,
                             const std::string& why, absl::Time now) {
  if (revoked.node_fault() || lease.proven) {
    health_.StartFailed(lease.node, now, why);
    return;
  }
  int& failures = image_failures_[lease.system.image];
  if (++failures >= kImageFailuresMax) {
    fatal_ =
        fmt::format("no container could be started from image {}, {} times in a row; on {}: {}",
                    lease.system.image.empty() ? "host" : lease.system.image, failures, lease.node,
                    revoked.message());
  }
}

void SubJob::LoseLease(const std::string& lease, const std::string& why, absl::Time now) {
  HeldLease* held = leases_.Find(lease);
  HOUTU_CHECK(held != nullptr, "only a held lease is lost");
  std::vector<TaskRef> lost;
  for (const auto& [attempt, taken] : held->running) {
    lost.push_back(attempt.task);
  }
  for (const TaskRef& ref : lost) {
    Lose(ref, why, now);
  }
  leases_.Remove(lease);
}

void SubJob::LosePartitionsOn(const std::string& node) {
  for (const TaskRef& ref : stages_.FinishedOn(node)) {
    const FinishedFact* finished = stages_.Finished(ref);
    if (finished->datacenter != context_.datacenter) {
      continue;  // another datacenter's node of the same name
    }
    v1::LostPartition lost;
    lost.set_stage(stages_.name(ref.stage));
    lost.set_task(ref.task);
    lost.set_attempt(finished->task.attempt());
    lost.set_node(node);
    lost_.push_back(std::move(lost));
  }
}

void SubJob::AgentUp(const std::string& node, const v1::TaskWelcome& welcome, absl::Time now) {
  const auto it = agents_.find(node);
  if (it == agents_.end()) {
    return;  // closed meanwhile
  }
  it->second.up = true;
  it->second.welcomed_once = true;
  std::set<AttemptRef> known;
  for (const v1::TaskReport& report : welcome.tasks()) {
    known.insert({{stages_.Find(report.id().stage()), report.id().task()}, report.id().attempt()});
    Reported(node, report, now);
  }
  for (const AttemptRef& attempt : leases_.RunningOn(node)) {
    if (!known.contains(attempt)) {
      Lose(attempt.task, "its agent does not know it", now);
    }
  }
  Settle(now);
}

void SubJob::AgentDown(const std::string& node) {
  if (const auto it = agents_.find(node); it != agents_.end()) {
    it->second.up = false;
  }
}

void SubJob::Settle(absl::Time now) {
  if (settled_ || !leases_told_) {
    return;
  }
  for (const auto& [id, lease] : leases_.all()) {
    const auto agent = agents_.find(lease.node);
    if (agent == agents_.end() || !agent->second.welcomed_once) {
      return;
    }
  }
  settled_ = true;
  for (int stage = 0; stage < stages_.size(); ++stage) {
    ConsiderStage(stage, now);
  }
}

void SubJob::CloseUnusedAgents() {
  std::set<std::string> needed;
  for (const TaskRef& ref : started_) {
    needed.insert(Own(ref).node);
  }
  for (auto it = agents_.begin(); it != agents_.end();) {
    // Ends that are being recorded are still to be acknowledged.
    if (leases_.OnNode(it->first) || needed.contains(it->first) || !recorder_.idle()) {
      ++it;
      continue;
    }
    outbox_.Add(CloseAgent{it->first});
    it = agents_.erase(it);
  }
}

}  // namespace houtu::jobmanager
