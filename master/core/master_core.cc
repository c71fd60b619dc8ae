#include "master/core/master_core.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/commands.h"

namespace houtu::master {

MasterCore::MasterCore(Options options, std::unique_ptr<Allocator> allocator)
    : options_(std::move(options)),
      allocator_(std::move(allocator)),
      nodes_(options_.node_timeout) {}

Effects MasterCore::Step(absl::Time now, const Event& event) {
  now_ = now;
  std::visit([this](const auto& e) { On(e); }, event);
  return std::exchange(effects_, {});
}

Effects MasterCore::Decide(absl::Time now) {
  HOUTU_CHECK(term_ > 0, "a master decides only when it leads");
  now_ = now;
  // A silence that fell while ZooKeeper was away is judged when it is back.
  if (!suspended_) {
    for (const std::string& name : nodes_.TakeSilent(now)) {
      LoseNode(name);
    }
    CancelWithoutManager();
    StartManagers();
    const Plan plan = allocator_->Decide(now);
    for (auto& [id, job] : jobs_) {
      job.reasons.clear();
    }
    for (const Grant& grant : plan.grants) {
      CommitGrant(grant);
    }
    for (const Preemption& preemption : plan.preemptions) {
      if (LeaseEntry* lease = leases_.Find(preemption.lease); lease != nullptr) {
        CommandEnd(lease, v1::LEASE_END_REASON_PREEMPTED);
      }
    }
    for (const Unserved& unserved : plan.unserved) {
      Job& job = jobs_.at(unserved.job);
      for (const Reason& reason : unserved.reasons) {
        v1::WaitReason& wait = job.reasons.emplace_back();
        wait.set_code(reason.code);
        wait.set_message(reason.message + " in " + options_.datacenter);
        wait.set_datacenter(options_.datacenter);
        if (const auto it = job.desire.find(unserved.shape); it != job.desire.end()) {
          wait.set_stage(it->second.stage);
        }
      }
    }
    TellReasons();
  }
  return std::exchange(effects_, {});
}

absl::Time MasterCore::NextWake(absl::Time now) const {
  absl::Time next = nodes_.NextSilence();
  for (const auto& [id, job] : jobs_) {
    if (job.manager_lease.empty()) {
      for (const absl::Time at : {job.manager_not_before, job.manager_expected_until}) {
        if (at > now) {
          next = std::min(next, at);
        }
      }
    }
  }
  return next;
}

void MasterCore::On(const LeadershipGained& event) {
  HOUTU_CHECK(term_ == 0, "one core per term");
  term_ = event.term;
  ended_jobs_ = event.ended_jobs;
  for (const ActiveJob& job : event.jobs) {
    AddJob(job);
  }
}

void MasterCore::On(const LeadershipSuspended& /*event*/) { suspended_ = true; }

void MasterCore::On(const LeadershipResumed& /*event*/) { suspended_ = false; }

std::vector<v1::Node> MasterCore::Nodes() const {
  std::vector<v1::Node> out;
  for (const auto& [name, entry] : nodes_.all()) {
    v1::Node& node = out.emplace_back(entry.node);
    Resources allocated;
    int leases = 0;
    for (const std::string& id : leases_.OnNode(name)) {
      allocated += Resources::FromProto(leases_.Find(id)->lease.resources());
      ++leases;
    }
    *node.mutable_allocated() = allocated.ToProto();
    node.set_leases(leases);
    *node.mutable_heard_at() = ToProto(entry.heard_at);
    if (entry.lost) {
      node.set_state(v1::Node::STATE_LOST);
      node.set_message("its agent has not been heard since " +
                       absl::FormatTime(entry.heard_at, absl::UTCTimeZone()));
    } else if (!entry.session.has_value()) {
      node.set_message("its agent is not connected");
    }
  }
  return out;
}

v1::Datacenter MasterCore::Summary() const {
  v1::Datacenter out;
  out.set_name(options_.datacenter);
  out.set_master_term(term_);
  out.set_reachable(true);
  Resources capacity;
  Resources allocated;
  for (const v1::Node& node : Nodes()) {
    if (node.state() == v1::Node::STATE_READY || node.state() == v1::Node::STATE_DRAINING) {
      out.set_nodes_ready(out.nodes_ready() + 1);
      capacity += Resources::FromProto(node.capacity());
      allocated += Resources::FromProto(node.allocated());
    } else if (node.state() == v1::Node::STATE_LOST) {
      out.set_nodes_lost(out.nodes_lost() + 1);
    } else {
      out.set_nodes_out_of_service(out.nodes_out_of_service() + 1);
    }
  }
  *out.mutable_capacity() = capacity.ToProto();
  *out.mutable_allocated() = allocated.ToProto();
  return out;
}

std::vector<v1::WaitReason> MasterCore::Waits(const std::string& job) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) {
    return {};
  }
  if (it->second.session.has_value()) {
    return it->second.reasons;
  }
  v1::WaitReason wait;
  wait.set_datacenter(options_.datacenter);
  if (!it->second.manager_lease.empty()) {
    wait.set_code("manager_starting");
    wait.set_message("its manager is being started in " + options_.datacenter);
  } else {
    wait.set_code("no_free_capacity");
    wait.set_message("no node in " + options_.datacenter + " has room for its manager now (" +
                     options_.manager_resources.Describe() + ")");
  }
  if (!it->second.manager_trouble.empty()) {
    wait.set_message(wait.message() + "; " + it->second.manager_trouble);
  }
  return {wait};
}

bool MasterCore::TokenFits(const std::string& job, const std::string& token) const {
  const auto it = jobs_.find(job);
  // Hashes are compared, so that the time taken tells nothing about the token.
  return it != jobs_.end() && Sha256(it->second.info.record.token()) == Sha256(token);
}

}  // namespace houtu::master
