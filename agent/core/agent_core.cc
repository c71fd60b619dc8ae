#include "agent/core/agent_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/resources.h"

namespace houtu::agent {

AgentCore::AgentCore(Options options) : options_(std::move(options)) {}

Effects AgentCore::Step(absl::Time now, const Event& event) {
  now_ = now;
  const bool was_in_service = health_.in_service();
  std::visit([this](const auto& e) { On(e); }, event);
  ReportHealthChange(was_in_service);
  return std::exchange(effects_, {});
}

absl::Time AgentCore::next_wake() const {
  absl::Time wake = std::min(health_.next_probe(), next_heartbeat_);
  for (const auto& [id, lease] : leases_) {
    if (lease.ended || lease.operation != LeaseState::Operation::kNone) {
      continue;
    }
    if (lease.retry_at != absl::InfinitePast()) {
      wake = std::min(wake, lease.retry_at);
    }
    if (lease.ending && !lease.container_broken) {
      wake = std::min(wake, lease.ending->deadline);
    }
  }
  return wake;
}

void AgentCore::On(const Woken& event) {
  CheckDisk(event.disk_free_bytes);
  if (now_ >= health_.next_probe()) {
    health_.ProbeBegan();
    effects_.push_back(ProbeNode{});
  }
  if (now_ >= next_heartbeat_) {
    OnHeartbeatDue(event.disk_free_bytes);
  }
  for (auto& [id, lease] : leases_) {
    if (!lease.ended) {
      Advance(lease);
    }
  }
}

void AgentCore::On(const Probed& event) { health_.Probed(now_, event.status); }

void AgentCore::CheckDisk(int64_t disk_free_bytes) {
  disk_free_bytes_ = disk_free_bytes;
  if (disk_free_bytes < options_.disk_reserve_bytes && health_.in_service()) {
    NodeFault(fmt::format("{} free in the work folder, less than the reserve of {}",
                          DescribeBytes(disk_free_bytes),
                          DescribeBytes(options_.disk_reserve_bytes)));
  }
}

void AgentCore::NodeFault(std::string message) { health_.Fault(now_, std::move(message)); }

}  // namespace houtu::agent
