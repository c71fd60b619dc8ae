// Events: everything that can happen to AgentCore. Results of effects name what they belong to.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "agent/core/shapes.h"
#include "agent/runtime/container_runtime.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/agent_service.pb.h"

namespace houtu::agent {

struct RecoveredAttempt {
  v1::TaskSpec spec;
  /// Its end, if that was recorded.
  std::optional<v1::TaskReport> end;
  /// How its program ended, if it did.
  std::optional<TaskExit> exit;
  /// Its program runs.
  bool running = false;
};

struct RecoveredLease {
  v1::StartLease start;
  /// Its end, if that was recorded.
  std::optional<v1::LeaseReport> end;
  /// The container that was last started for it; none: it never got so far.
  std::optional<ContainerShape> container;
  bool container_runs = false;
  std::vector<RecoveredAttempt> attempts;
};

/// First event: what the disk and the runtime hold from before.
struct Recovered {
  Terms terms;
  std::vector<RecoveredLease> leases;
};

struct MasterConnected {};
struct MasterDisconnected {};
struct MasterSaid {
  v1::MasterCommand command;
};

/// The first message of a job manager's session. Its certificate's role was checked by the shell.
struct ManagerHello {
  SessionId session = 0;
  std::string job;
  std::string datacenter;
  int64_t term = 0;
  std::string token_sha256;
};
/// A later message of a session.
struct ManagerSaid {
  SessionId session = 0;
  v1::TaskCommand command;
};
struct ManagerGone {
  SessionId session = 0;
};

/// Result of RecordLease.
struct LeaseRecorded {
  std::string lease_id;
  absl::Status status;
};
/// Result of StartContainer.
struct ContainerStarted {
  std::string lease_id;
  absl::Status status;
  /// A failure is the node's (disk, runtime), not the image's.
  bool node_fault = false;
};
/// The first process of the container of this generation ended by itself.
struct ContainerEnded {
  std::string lease_id;
  int generation = 0;
};
/// Result of DestroyContainer, with every exit recorded in the lease's folder.
struct ContainerDestroyed {
  std::string lease_id;
  absl::Status status;
  std::vector<TaskExit> exits;
};
/// Result of RecordLeaseEnd.
struct LeaseEndRecorded {
  std::string lease_id;
};

/// Result of LaunchTask.
struct TaskLaunched {
  std::string lease_id;
  AttemptKey key;
  LaunchResult result;
};
struct TaskExited {
  std::string lease_id;
  AttemptKey key;
  TaskExit exit;
};
/// Result of FinishTask: outputs are committed, the end is recorded.
struct TaskFinished {
  std::string lease_id;
  AttemptKey key;
  v1::TaskReport report;
  /// What the node failed at while it finished the attempt; OK: nothing.
  absl::Status node_status;
};

/// Result of ProbeNode.
struct Probed {
  absl::Status status;
};
/// The time of AgentCore::next_wake() has come.
struct Woken {
  int64_t disk_free_bytes = 0;
};

using Event = std::variant<Recovered, MasterConnected, MasterDisconnected, MasterSaid, ManagerHello,
                           ManagerSaid, ManagerGone, LeaseRecorded, ContainerStarted,
                           ContainerEnded, ContainerDestroyed, LeaseEndRecorded, TaskLaunched,
                           TaskExited, TaskFinished, Probed, Woken>;

}  // namespace houtu::agent
