// Effects: what AgentCore wants done, in order. What records comes before what tells of it; an
// effect that blocks comes back as the event named beside it, and its tale is told then.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/core/shapes.h"
#include "agent/runtime/container_runtime.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/agent_service.pb.h"

namespace houtu::agent {

/// Write the terms; small, done before the next effect.
struct RecordTerms {
  Terms terms;
};
/// → LeaseRecorded
struct RecordLease {
  v1::StartLease start;
};
/// Prepare the image, start the container, watch it → ContainerStarted
struct StartContainer {
  v1::StartLease start;
  ContainerShape shape;
  int generation = 0;
};
/// Stop watching, end everything in it → ContainerDestroyed
struct DestroyContainer {
  std::string lease_id;
};
/// Record how the lease ended → LeaseEndRecorded (also where the record can't be written: after a
/// restart the lease is found without a container and ends again)
struct RecordLeaseEnd {
  v1::LeaseReport report;
};
/// Delete the lease's folder.
struct ForgetLease {
  std::string lease_id;
};

/// Record the spec, fetch the inputs, start the program → TaskLaunched
struct LaunchTask {
  v1::StartLease lease;
  v1::TaskSpec spec;
};
/// SIGTERM, then SIGKILL; the end comes as TaskExited.
struct StopProgram {
  std::string lease_id;
  AttemptKey key;
  absl::Duration grace;
};
/// Reap, commit, keep the log, record the end, clear the task's folder → TaskFinished. Without an
/// exit the report already tells how it ended.
struct FinishTask {
  std::string lease_id;
  v1::TaskSpec spec;
  std::optional<TaskExit> exit;
  v1::TaskReport report;
};
/// The ends are acknowledged: their records may go.
struct ForgetAttempts {
  std::string lease_id;
  std::vector<AttemptKey> keys;
};
/// Delete what these attempts committed: others' results were taken.
struct DiscardOutputs {
  std::vector<AttemptKey> keys;
};
/// Partitions and logs of these jobs go when their retention is over.
struct ForgetJobData {
  std::vector<std::string> jobs;
};

struct SendToMaster {
  v1::AgentMessage message;
};
/// The master no longer answers: end the session and look for the leader.
struct ReconnectMaster {
  std::string reason;
};
/// Expand raw inputs, answer the master.
struct ListInputFiles {
  v1::ListFiles request;
};
struct SendTaskReport {
  SessionId session = 0;
  v1::TaskReport report;
};
struct SendToManager {
  SessionId session = 0;
  v1::TaskMessage message;
};
struct CloseSession {
  SessionId session = 0;
  absl::Status status;
};
/// Whether containers can be started here → Probed
struct ProbeNode {};

using Effect =
    std::variant<RecordTerms, RecordLease, StartContainer, DestroyContainer, RecordLeaseEnd,
                 ForgetLease, LaunchTask, StopProgram, FinishTask, ForgetAttempts, DiscardOutputs,
                 ForgetJobData, SendToMaster, ReconnectMaster, ListInputFiles, SendTaskReport,
                 SendToManager, CloseSession, ProbeNode>;
using Effects = std::vector<Effect>;

}  // namespace houtu::agent
