// AgentCore: what an agent decides. It has no clock, file, socket or thread: the shell tells it
// what happened and does what it says, in order.
//
// Of policy it knows nothing: masters give leases, job managers give tasks. It sees to it that
//   - a command of an older term, or one given twice, does nothing;
//   - tasks of a lease never hold more than the lease;
//   - a container has the image and network its tasks ask for, and is replaced only when empty;
//   - what was recorded is told until it is acknowledged, across restarts;
//   - a node that can't start containers says so and takes none until a probe succeeds (C22).
//
// Each lease is driven by Advance(lease), which looks at the lease as it is and starts the next
// operation that brings it where it should be; results only change the state and call it again. So
// there is one place that knows the order of things, whatever arrives when.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/core/events.h"
#include "agent/core/lease_state.h"
#include "agent/core/node_health.h"
#include "houtu/v1/node.pb.h"

namespace houtu::agent {

/// Owner: the agent's shell, on its loop's thread. Deterministic.
class AgentCore {
 public:
  struct Options {
    /// What registers: name, datacenter, rack, address, capacity, features.
    v1::Node node;
    /// No lease is taken while less is free.
    int64_t disk_reserve_bytes = 0;
  };

  explicit AgentCore(Options options);

  Effects Step(absl::Time now, const Event& event);

  /// When to send the next Woken. InfiniteFuture: only after another event.
  absl::Time next_wake() const;

  /// Registered with a master: may be sent work.
  bool registered() const { return registered_; }
  const NodeHealth& health() const { return health_; }
  const absl::btree_map<std::string, LeaseState>& leases() const { return leases_; }

 private:
  // recovery.cc
  void On(const Recovered& event);
  void Adopt(const RecoveredLease& lease);
  void AdoptAttempts(LeaseState& lease, const RecoveredLease& from);

  // master_steps.cc
  void On(const MasterConnected& event);
  void On(const MasterDisconnected& event);
  void On(const MasterSaid& event);
  void OnStartLease(const v1::StartLease& start);
  void OnEndLease(const v1::EndLease& end);
  void OnLeaseEndAcknowledged(const std::string& lease_id);
  void OnForgetJobs(const v1::ForgetJobs& forget);
  void OnHeartbeatDue(int64_t disk_free_bytes);
  bool RefuseStale(const v1::MasterCommand& command);
  void SendToMasterNow(v1::AgentMessage message);
  void ReportLease(const LeaseState& lease);
  void ReportHealthChange(bool was_in_service);

  // session_steps.cc
  void On(const ManagerHello& event);
  void On(const ManagerSaid& event);
  void On(const ManagerGone& event);
  absl::Status CheckHello(const ManagerHello& hello) const;
  void Welcome(SessionId session, const std::string& job);
  void OnStartTask(SessionId session, const std::string& job, const v1::TaskSpec& spec);
  void OnStopTask(SessionId session, const std::string& job, const v1::StopTask& stop);
  void OnAcknowledge(const std::string& job, const v1::AcknowledgeTasks& acknowledge);
  std::string WhyRefused(const LeaseState* lease, const std::string& job,
                         const v1::TaskSpec& spec) const;
  void RefuseTask(SessionId session, const v1::AttemptId& id, std::string reason);

  // lease_steps.cc
  void On(const LeaseRecorded& event);
  void On(const ContainerStarted& event);
  void On(const ContainerEnded& event);
  void On(const ContainerDestroyed& event);
  void On(const LeaseEndRecorded& event);
  void Advance(LeaseState& lease);
  void AdvanceEnding(LeaseState& lease);
  void StopAll(LeaseState& lease);
  void StartContainerFor(LeaseState& lease, const ContainerShape& shape);
  void BeginEnd(LeaseState& lease, LeaseEnding ending);
  void EndedWithoutStart(LeaseState& lease, const std::string& message);
  void DropAttempts(LeaseState& lease);
  void MaybeForget(const std::string& lease_id);
  LeaseState* Find(const std::string& lease_id);

  // task_steps.cc
  void On(const TaskLaunched& event);
  void On(const TaskExited& event);
  void On(const TaskFinished& event);
  void LaunchWaiting(LeaseState& lease);
  void Launch(LeaseState& lease, AttemptState& attempt);
  void NotStarted(LeaseState& lease, AttemptState& attempt, const LaunchResult& result);
  void StopAttempt(LeaseState& lease, AttemptState& attempt, const std::string& reason);
  void Finish(LeaseState& lease, AttemptState& attempt, std::optional<TaskExit> exit);
  void FinishAs(LeaseState& lease, AttemptState& attempt, v1::TaskEndReason reason,
                std::string message);
  void OnManagerEnded(LeaseState& lease, const v1::TaskReport& report);
  void ReportTask(const AttemptState& attempt);
  AttemptState* FindAttempt(const std::string& lease_id, const AttemptKey& key);

  // agent_core.cc
  void On(const Probed& event);
  void On(const Woken& event);
  void NodeFault(std::string message);
  void CheckDisk(int64_t disk_free_bytes);

  const Options options_;
  absl::Time now_;
  Effects effects_;

  Terms terms_;
  absl::btree_map<std::string, LeaseState> leases_;
  /// Which lease has an attempt that is not forgotten.
  absl::btree_map<AttemptKey, std::string> lease_of_;
  /// By job: its manager's session.
  absl::btree_map<std::string, SessionId> sessions_;
  NodeHealth health_;

  bool connected_ = false;
  bool registered_ = false;
  absl::Duration heartbeat_interval_ = absl::Seconds(1);
  absl::Time next_heartbeat_ = absl::InfiniteFuture();
  absl::Time echoed_at_ = absl::InfinitePast();
  int64_t heartbeat_sequence_ = 0;
  /// As last measured; told with every heartbeat.
  int64_t disk_free_bytes_ = 0;
};

}  // namespace houtu::agent
