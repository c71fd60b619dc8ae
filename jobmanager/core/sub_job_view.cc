// SubJob: what is told of it.
#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/sub_job.h"

namespace houtu::jobmanager {
namespace {

v1::WaitReason Reason(std::string code, std::string message, std::string stage,
                      const std::string& datacenter) {
  v1::WaitReason reason;
  reason.set_code(std::move(code));
  reason.set_message(std::move(message));
  reason.set_stage(std::move(stage));
  reason.set_datacenter(datacenter);
  return reason;
}

}  // namespace

std::vector<v1::WaitReason> SubJob::Waits(absl::Time now) const {
  std::vector<v1::WaitReason> waits;
  const auto add = [&](std::string code, std::string message, std::string stage) {
    waits.push_back(
        Reason(std::move(code), std::move(message), std::move(stage), context_.datacenter));
  };
  if (!queue_.empty()) {
    if (!master_up_) {
      add("no_leader", "the datacenter's master can't be reached", "");
    }
    for (const v1::WaitReason& reason : master_reasons_.reasons()) {
      waits.push_back(reason);
      waits.back().set_datacenter(context_.datacenter);
    }
    if (const NodeHealth::Paused paused = health_.FirstPaused(now); !paused.node.empty()) {
      add("retry_backoff",
          fmt::format("node {} could not start tasks and is left alone for {}: {}", paused.node,
                      absl::FormatDuration(absl::Ceil(paused.until - now, absl::Seconds(1))),
                      paused.message),
          "");
    }
  }
  std::map<int, std::pair<int, absl::Time>> paused_of;  // stage: tasks, the first one's time
  for (const auto& [until, ref] : paused_) {
    auto [it, is_new] = paused_of.try_emplace(ref.stage, 0, until);
    ++it->second.first;
  }
  for (const auto& [stage, paused] : paused_of) {
    add("retry_backoff",
        fmt::format("{} tasks wait for their next attempt, the first for {}", paused.first,
                    absl::FormatDuration(absl::Ceil(paused.second - now, absl::Seconds(1)))),
        stages_.name(stage));
  }
  for (const auto& [node, agent] : agents_) {
    if (!agent.up && leases_.OnNode(node)) {
      add("agent_away", fmt::format("the agent of node {} can't be reached", node), "");
    }
  }
  if (!settled_) {
    add("agent_away", "waiting to hear what an earlier manager left running", "");
  }
  if (waits.size() > kWaitReasonsMax) {
    waits.resize(kWaitReasonsMax);
  }
  return waits;
}

std::vector<v1::TaskStatus> SubJob::RunningTasks() const {
  std::vector<v1::TaskStatus> running;
  for (const TaskRef& ref : started_) {
    if (running.size() >= kRunningListedMax) {
      break;
    }
    const OwnTask& task = Own(ref);
    v1::TaskStatus status;
    status.set_stage(stages_.name(ref.stage));
    status.set_task(ref.task);
    status.set_state(v1::TaskStatus::STATE_RUNNING);
    status.set_datacenter(context_.datacenter);
    status.set_node(task.node);
    status.set_attempt(task.last_attempt);
    *status.mutable_started_at() = ToProto(task.started_at);
    if (task.input != nullptr) {
      status.set_input(fmt::format("{} on {}", task.input->path(), task.input->node()));
      if (task.input->has_length_bytes()) {
        status.set_input(fmt::format("{} [{}, +{}) on {}", task.input->path(),
                                     task.input->offset_bytes(), task.input->length_bytes(),
                                     task.input->node()));
      }
    }
    running.push_back(std::move(status));
  }
  return running;
}

}  // namespace houtu::jobmanager
