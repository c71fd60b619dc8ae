// SubJob: what it does of itself: starts tasks, asks for containers, gives idle ones back.
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/sub_job.h"
#include "jobmanager/core/task_spec.h"
#include "jobmanager/desire/desire.h"
#include "jobmanager/placement/placement.h"

namespace houtu::jobmanager {

// The queue as the placement sees it: of all shapes that fit, the task that comes first.
class SubJob::QueueView : public WaitingTasks {
 public:
  explicit QueueView(SubJob* sub_job) : sub_job_(*sub_job) {}

  std::optional<Candidate> First(const OpenContainer& container, Nearness nearness) override {
    std::optional<std::pair<int, TaskRef>> best;
    for (size_t shape = 0; shape < sub_job_.shapes_.size(); ++shape) {
      if (!Fits(sub_job_.shapes_[shape], container)) {
        continue;
      }
      const auto first = FirstOf(static_cast<int>(shape), container, nearness);
      if (first.has_value() && (!best.has_value() || *first < *best)) {
        best = first;
      }
    }
    if (!best.has_value()) {
      return std::nullopt;
    }
    return Candidate{best->second, sub_job_.shapes_[sub_job_.shape_of_[best->second.stage]]};
  }

  // The phase changes when it is started.
  void Take(TaskRef task) override { sub_job_.queue_.Remove(task); }

 private:
  std::optional<std::pair<int, TaskRef>> FirstOf(int shape, const OpenContainer& container,
                                                 Nearness nearness) const {
    switch (nearness) {
      case Nearness::kNode:
        return sub_job_.queue_.FirstOn(shape, container.node);
      case Nearness::kRack: {
        std::optional<std::pair<int, TaskRef>> best;
        for (const std::string& node : sub_job_.leases_.RackNodes(container.rack)) {
          const auto first = sub_job_.queue_.FirstOn(shape, node);
          if (first.has_value() && (!best.has_value() || *first < *best)) {
            best = first;
          }
        }
        return best;
      }
      case Nearness::kAny:
        return sub_job_.queue_.First(shape);
    }
    return std::nullopt;
  }

  SubJob& sub_job_;
};

std::vector<OpenContainer> SubJob::OpenContainers(std::map<std::string, int>* starts_left,
                                                  absl::Time now) {
  std::vector<OpenContainer> open;
  for (const auto& [id, lease] : leases_.all()) {
    const auto agent = agents_.find(lease.node);
    if (agent == agents_.end() || !agent->second.up || lease.paused_until > now ||
        lease.free == Resources()) {
      continue;
    }
    const auto left =
        starts_left->try_emplace(lease.node, health_.StartsLeft(lease.node, now)).first;
    open.push_back({.lease = id,
                    .node = lease.node,
                    .rack = lease.rack,
                    .free = lease.free,
                    .system = lease.system,
                    .empty = lease.idle(),
                    .starts_left = &left->second});
  }
  return open;
}

void SubJob::Work(absl::Time now) {
  while (!paused_.empty() && paused_.begin()->first <= now) {
    const TaskRef ref = paused_.begin()->second;
    SetPhase(ref, OwnTask::Phase::kHeld);
    Consider(ref, now);
  }
  if (!queue_.empty() && !stopping_) {
    std::map<std::string, int> starts_left;
    QueueView view(this);
    for (const Placed& placed : Place(OpenContainers(&starts_left, now), &view)) {
      Start(placed.task, placed.lease, now);
    }
  }
  if (more_waits_ && master_up_) {
    more_waits_ = false;
    TellDesire(Wanted());
  }
}

int64_t SubJob::AttemptFloor() const { return (context_.term - 1) * kAttemptsPerTerm; }

void SubJob::Start(TaskRef ref, const std::string& lease_id, absl::Time now) {
  OwnTask& task = Own(ref);
  const int64_t number = std::max<int64_t>(task.last_attempt, AttemptFloor()) + 1;
  if (number > AttemptFloor() + kAttemptsPerTerm) {
    fatal_ = fmt::format("stage {}: task {} was started {} times without an end",
                         stages_.name(ref.stage), ref.task, kAttemptsPerTerm);
    SetPhase(ref, OwnTask::Phase::kHeld);
    return;
  }
  const HeldLease* lease = leases_.Find(lease_id);
  HOUTU_CHECK(lease != nullptr, "a task is placed in a held lease");
  const ContainerShape& shape = shapes_[shape_of_[ref.stage]];
  const AttemptRef attempt{ref, static_cast<int>(number)};
  SetPhase(ref, OwnTask::Phase::kStarted);
  leases_.Occupy(lease_id, attempt, shape);
  health_.StartSent(lease->node);
  task.last_attempt = attempt.attempt;
  task.lease = lease_id;
  task.node = lease->node;
  task.started_at = now;
  task.running = false;
  outbox_.Start(lease->node,
                BuildTaskSpec(context_, stages_, attempt, lease_id, shape, task.input.get()));
}

// ---- Containers ------------------------------------------------------------------------------

v1::Desire SubJob::Wanted() const {
  std::vector<ShapeWork> work;
  const auto of_size = [&](const Resources& size) -> ShapeWork& {
    for (ShapeWork& known : work) {
      if (known.resources == size) {
        return known;
      }
    }
    work.emplace_back().resources = size;
    return work.back();
  };
  for (size_t i = 0; i < shapes_.size() && !stopping_; ++i) {
    const int shape = static_cast<int>(i);
    if (queue_.Count(shape) == 0) {
      continue;
    }
    ShapeWork& of = of_size(shapes_[i].resources);
    if (of.waiting == 0) {
      of.system = shapes_[i].system;
      of.stage = stages_.name(queue_.FirstStage(shape));
    }
    of.waiting += queue_.Count(shape);
    for (const auto& [node, count] : queue_.CountByNode(shape)) {
      of.waiting_by_node[node] += count;
    }
  }
  for (const auto& [id, lease] : leases_.all()) {
    ShapeWork& of = of_size(lease.size);
    if (of.held == 0 && of.waiting == 0) {
      of.system = lease.system;
    }
    ++of.held;
    ++of.held_by_node[lease.node];
  }
  return ComputeDesire(work, kContainersMax);
}

void SubJob::TellDesire(v1::Desire desire) {
  if (told_.has_value() && google::protobuf::util::MessageDifferencer::Equals(*told_, desire)) {
    return;
  }
  told_ = desire;
  v1::JobManagerMessage message;
  *message.mutable_desire() = std::move(desire);
  outbox_.Add(SendToMaster{std::move(message)});
}

bool SubJob::MayBeUsed(const HeldLease& lease) const {
  for (int stage = 0; stage < stages_.size() && !stopping_; ++stage) {
    const bool has_more = !stages_.at(stage).released() || !held_[stage].empty();
    if (has_more && shapes_[shape_of_[stage]].resources.FitsIn(lease.size)) {
      return true;
    }
  }
  return std::ranges::any_of(paused_, [&](const auto& paused) {
    return shapes_[shape_of_[paused.second.stage]].resources.FitsIn(lease.size);
  });
}

std::vector<std::string> SubJob::LeasesToGiveBack(absl::Time now) const {
  std::vector<std::string> leases;
  for (const auto& [id, lease] : leases_.all()) {
    const auto agent = agents_.find(lease.node);
    // Where the agent is away nothing can be used yet; if the node is lost, the master will tell.
    const bool usable = agent != agents_.end() && agent->second.up;
    const bool waited = lease.idle_since + context_.period <= now;
    if (lease.idle() && settled_ && (usable || stopping_) && (waited || !MayBeUsed(lease))) {
      leases.push_back(id);
    }
  }
  return leases;
}

void SubJob::GiveBack(const std::vector<std::string>& leases) {
  for (const std::string& id : leases) {
    leases_.Remove(id);
  }
  // The lower desire first, or the master would replace what it is given.
  TellDesire(Wanted());
  for (const std::string& id : leases) {
    v1::JobManagerMessage message;
    message.mutable_release()->set_lease_id(id);
    outbox_.Add(SendToMaster{std::move(message)});
  }
}

void SubJob::Period(absl::Time now) {
  std::vector<std::string> given_up;
  for (const auto& [id, lease] : leases_.all()) {
    const auto agent = agents_.find(lease.node);
    const bool away = agent == agents_.end() || !agent->second.up;
    if (away && now - lease.unlisted_since >= kUnlistedLeaseMax) {
      given_up.push_back(id);
    }
  }
  for (const std::string& id : given_up) {
    LoseLease(id, "neither its master nor its agent knows it", now);
  }
  Settle(now);
  if (master_up_) {
    GiveBack(LeasesToGiveBack(now));
  }
  CloseUnusedAgents();
}

void SubJob::StopAll(const std::string& reason, absl::Time now) {
  if (stopping_) {
    return;
  }
  stopping_ = true;
  while (!paused_.empty()) {
    SetPhase(paused_.begin()->second, OwnTask::Phase::kHeld);
  }
  for (int shape = 0; shape < static_cast<int>(shapes_.size()); ++shape) {
    while (const auto first = queue_.First(shape)) {
      SetPhase(first->second, OwnTask::Phase::kHeld);
    }
  }
  for (const auto& [id, lease] : leases_.all()) {
    for (const auto& [attempt, taken] : lease.running) {
      outbox_.Stop(lease.node, IdOf(context_, stages_, attempt), reason);
    }
  }
  Period(now);
}

absl::Time SubJob::NextWake(absl::Time now) const {
  absl::Time wake = paused_.empty() ? absl::InfiniteFuture() : paused_.begin()->first;
  if (queue_.empty()) {
    return wake;
  }
  wake = std::min(wake, health_.FirstPaused(now).until);
  for (const auto& [id, lease] : leases_.all()) {
    if (lease.paused_until > now) {
      wake = std::min(wake, lease.paused_until);
    }
  }
  return wake;
}

}  // namespace houtu::jobmanager
