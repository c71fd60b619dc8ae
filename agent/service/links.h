// Links: the ways out of the shell, without gRPC. All on the loop's thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "agent/core/shapes.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/agent_service.pb.h"

namespace houtu::agent {

/// The session with the master. What can't be sent is dropped: a new session starts with all of it.
class MasterLink {
 public:
  virtual ~MasterLink() = default;
  virtual void Send(v1::AgentMessage message) = 0;
  /// Ends the session and looks for the leader again.
  virtual void Reconnect(const std::string& reason) = 0;
};

/// The sessions of job managers.
class ManagerLinks {
 public:
  virtual ~ManagerLinks() = default;
  /// To a session that is gone: nothing.
  virtual void Send(SessionId session, v1::TaskMessage message) = 0;
  virtual void Close(SessionId session, const absl::Status& status) = 0;
};

}  // namespace houtu::agent
