// NodeHealth: whether the node takes work. A node that fails starts fast would swallow a job's
// tasks (C22): after a fault of its own it is out of service until a probe succeeds, and as long as
// no container starts, the pauses between probes grow.
//
//   ready --Fault--> out of service --(pause)--> probing --ok--> ready
//                          ^-------------- not ok -----'
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "houtu/v1/node.pb.h"

namespace houtu::agent {

/// A value of AgentCore's; pure.
class NodeHealth {
 public:
  static constexpr absl::Duration kFirstPause = absl::Seconds(1);
  /// Half of the 60 s within which a repaired node must be back.
  static constexpr absl::Duration kLongestPause = absl::Seconds(30);

  /// The node failed at something that is no task's fault. Further ones while it is out of service
  /// change only the message.
  void Fault(absl::Time now, std::string message);
  /// A container started: pauses begin anew.
  void StartSucceeded();
  /// The probe is under way: not due again before Probed.
  void ProbeBegan();
  void Probed(absl::Time now, const absl::Status& status);

  bool in_service() const { return in_service_; }
  v1::Node::State state() const {
    return in_service_ ? v1::Node::STATE_READY : v1::Node::STATE_OUT_OF_SERVICE;
  }
  /// Why it is out of service; empty: it is not.
  const std::string& message() const { return message_; }
  /// InfiniteFuture: no probe is due.
  absl::Time next_probe() const { return next_probe_; }

 private:
  void Pause(absl::Time now);

  bool in_service_ = true;
  std::string message_;
  absl::Time next_probe_ = absl::InfiniteFuture();
  absl::Duration pause_ = kFirstPause;
};

}  // namespace houtu::agent
