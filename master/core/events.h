// What MasterCore is told and what it wants done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/job_master_service.pb.h"
#include "houtu/v1/record.pb.h"

namespace houtu::master {

/// A gRPC session, numbered by the shell; never used twice in a process.
using SessionId = uint64_t;

/// A job that has not ended and takes part in this datacenter.
struct ActiveJob {
  v1::JobRecord record;
  /// For the user ids of its containers.
  int account_number = 0;
  /// Whether a manager of this datacenter ever wrote its record: it may still run somewhere.
  bool manager_known = false;
  /// The node that record names.
  std::string manager_node;
};

struct LeadershipGained {
  int64_t term = 0;
  std::vector<ActiveJob> jobs;
  /// Jobs that ended within the retention, for agents that were away.
  std::vector<std::string> ended_jobs;
};
/// The connection to ZooKeeper is lost: no new decision until it is back (C13).
struct LeadershipSuspended {};
struct LeadershipResumed {};

/// A job was recorded or forwarded here, or seen by the watch. The same again does nothing.
struct JobActive {
  ActiveJob job;
};
/// Its state record says so, or it is no longer active.
struct JobEnded {
  std::string job;
};
/// Somebody asked for the job's end. Its manager does it; where none runs, this master.
struct CancelRequested {
  std::string job;
};

struct AgentRegistered {
  SessionId session = 0;
  v1::RegisterNode node;
};
struct AgentSessionEnded {
  SessionId session = 0;
  std::string node;
};
struct AgentHeartbeat {
  SessionId session = 0;
  std::string node;
  v1::Heartbeat heartbeat;
};
struct LeaseReported {
  SessionId session = 0;
  std::string node;
  v1::LeaseReport report;
};

struct ManagerConnected {
  SessionId session = 0;
  std::string job;
  /// The manager's term.
  int64_t term = 0;
};
struct ManagerDisconnected {
  SessionId session = 0;
  std::string job;
};
struct DesireChanged {
  SessionId session = 0;
  std::string job;
  v1::Desire desire;
};
struct LeaseReleased {
  SessionId session = 0;
  std::string job;
  std::string lease;
};

using Event =
    std::variant<LeadershipGained, LeadershipSuspended, LeadershipResumed, JobActive, JobEnded,
                 CancelRequested, AgentRegistered, AgentSessionEnded, AgentHeartbeat, LeaseReported,
                 ManagerConnected, ManagerDisconnected, DesireChanged, LeaseReleased>;

struct SendToAgent {
  SessionId session = 0;
  v1::MasterCommand command;
};
struct SendToManager {
  SessionId session = 0;
  v1::JobMasterMessage message;
};
/// End an agent's or a manager's stream: another one took its place.
struct EndSession {
  SessionId session = 0;
  std::string reason;
};
/// Record the job's end: it has no manager that could.
struct EndJob {
  std::string job;
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  std::string message;
};

using Effect = std::variant<SendToAgent, SendToManager, EndSession, EndJob>;
using Effects = std::vector<Effect>;

}  // namespace houtu::master
