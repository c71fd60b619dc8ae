#include "agent/core/node_health.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace houtu::agent {

void NodeHealth::Fault(absl::Time now, std::string message) {
  message_ = std::move(message);
  if (!in_service_) {
    return;
  }
  in_service_ = false;
  Pause(now);
}

void NodeHealth::StartSucceeded() { pause_ = kFirstPause; }

void NodeHealth::ProbeBegan() { next_probe_ = absl::InfiniteFuture(); }

void NodeHealth::Probed(absl::Time now, const absl::Status& status) {
  if (in_service_) {
    return;
  }
  if (status.ok()) {
    in_service_ = true;
    message_.clear();
    next_probe_ = absl::InfiniteFuture();
    return;
  }
  message_ = Message(status);
  Pause(now);
}

void NodeHealth::Pause(absl::Time now) {
  next_probe_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

}  // namespace houtu::agent
