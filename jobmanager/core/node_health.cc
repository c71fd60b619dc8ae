#include "jobmanager/core/node_health.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

constexpr int kPauseGrowth = 4;

absl::Duration PauseAfter(int rounds_failed) {
  absl::Duration pause = kNodePauseFirst;
  for (int i = 1; i < rounds_failed && pause < kNodePauseMax; ++i) {
    pause *= kPauseGrowth;
  }
  return std::min(pause, kNodePauseMax);
}

}  // namespace

int NodeHealth::StartsLeft(const std::string& node, absl::Time now) const {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) {
    return kUnprovenStartsMax;
  }
  const Node& health = it->second;
  if (now < health.paused_until) {
    return 0;
  }
  if (health.proven) {
    return std::numeric_limits<int>::max();
  }
  return std::max(0, (health.rounds_failed > 0 ? 1 : kUnprovenStartsMax) - health.undecided);
}

void NodeHealth::StartSent(const std::string& node) { ++nodes_[node].undecided; }

void NodeHealth::Started(const std::string& node) {
  Node& health = nodes_[node];
  health.undecided = std::max(0, health.undecided - 1);
  health.proven = true;
  health.rounds_failed = 0;
}

void NodeHealth::StartUndecided(const std::string& node) {
  Node& health = nodes_[node];
  health.undecided = std::max(0, health.undecided - 1);
}

void NodeHealth::StartFailed(const std::string& node, absl::Time now, std::string message) {
  Node& health = nodes_[node];
  health.undecided = std::max(0, health.undecided - 1);
  health.proven = false;
  health.message = std::move(message);
  if (now >= health.paused_until) {
    ++health.rounds_failed;
    health.paused_until = now + PauseAfter(health.rounds_failed);
  }
}

NodeHealth::Paused NodeHealth::FirstPaused(absl::Time now) const {
  Paused first{.node = "", .until = absl::InfiniteFuture(), .message = ""};
  for (const auto& [name, health] : nodes_) {
    if (health.paused_until > now && health.paused_until < first.until) {
      first = {name, health.paused_until, health.message};
    }
  }
  return first;
}

}  // namespace houtu::jobmanager
