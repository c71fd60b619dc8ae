// What AgentCore keeps of a lease and of the attempts in it.
//
// A lease:   recording ──> starting ──> up ⇄ (another image: destroying ──> starting)
//                │            │          │
//                └────────────┴─ ending ─┴─> tasks stopped ─> destroying ─> recording end ─> ended
// An ended lease stays until the master has acknowledged its end and the job manager those of its
// attempts.
//
// An attempt: waiting ──> launching ──> running ──> finishing ──> ended (until acknowledged)
//                 └───────────┴── could not start ──────^
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "agent/core/shapes.h"
#include "agent/runtime/container_runtime.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/lease.pb.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

struct AttemptState {
  enum class Phase { kWaiting, kLaunching, kRunning, kFinishing, kEnded };

  v1::TaskSpec spec;
  Phase phase = Phase::kWaiting;
  /// What is told of it now.
  v1::TaskReport report;
  /// Came before the launch's own answer, which a short program overtakes.
  std::optional<TaskExit> early_exit;
  bool stop_wanted = false;
  std::string stop_reason;

  bool Holds() const { return phase != Phase::kEnded; }
};

/// How a lease ends.
struct LeaseEnding {
  v1::LeaseEndReason reason = v1::LEASE_END_REASON_UNSPECIFIED;
  std::string message;
  bool node_fault = false;
  absl::Duration grace;
  /// When what still runs is no longer waited for.
  absl::Time deadline;
};

struct LeaseState {
  /// The one operation on the container or its records that is under way.
  enum class Operation { kNone, kRecording, kStarting, kDestroying, kRecordingEnd };

  v1::StartLease start;
  Operation operation = Operation::kNone;
  /// The lease is recorded: the master was told that it is accepted.
  bool accepted = false;
  bool container_up = false;
  /// The container's first process ended, or what runs in it is no longer waited for.
  bool container_broken = false;
  ContainerShape shape;
  /// Rises with each container of the lease.
  int generation = 0;
  /// The node failed at one of its tasks: it takes no more and ends when the others have.
  std::optional<std::string> fault;
  std::optional<LeaseEnding> ending;
  bool end_recorded = false;
  /// A failed destruction is tried again then.
  absl::Time retry_at = absl::InfinitePast();
  absl::Duration retry_pause = absl::Seconds(1);
  /// What is told of it now.
  v1::LeaseReport report;
  bool ended = false;
  bool acknowledged = false;
  /// The job ended: nobody will acknowledge the attempts.
  bool orphaned = false;
  absl::btree_map<AttemptKey, AttemptState> attempts;
  /// The order in which attempts wait for the container.
  std::vector<AttemptKey> waiting;

  const std::string& id() const { return start.lease().id(); }
  const std::string& job() const { return start.lease().job(); }
  bool IsManagers() const { return start.lease().kind() == v1::Lease::KIND_MANAGER; }
  /// Attempts that have not ended.
  int Holding() const;
  /// Attempts whose program runs or may run.
  int InContainer() const;
};

/// The attempt as which a manager lease's job manager runs: numbered by the lease, so that two
/// managers of one job on a node never share a log.
v1::TaskSpec ManagerSpec(const v1::Lease& lease);

}  // namespace houtu::agent
