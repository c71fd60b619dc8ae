// SubJob: the job's part in this datacenter. It holds the tasks assigned here and the leases got
// from the master, starts the ones in the others, and takes the agents' reports.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/agent_service.pb.h"
#include "houtu/v1/status.pb.h"
#include "jobmanager/core/container_shape.h"
#include "jobmanager/core/event_log.h"
#include "jobmanager/core/job_context.h"
#include "jobmanager/core/lease_table.h"
#include "jobmanager/core/node_health.h"
#include "jobmanager/core/outbox.h"
#include "jobmanager/core/own_task.h"
#include "jobmanager/core/recorder.h"
#include "jobmanager/core/stage_table.h"
#include "jobmanager/core/task_queue.h"

namespace houtu::jobmanager {

/// Owner: JobManagerCore, which also owns the parts given to the constructor. Not thread-safe.
///
/// Attempt numbers rise from 1. A manager of term t gives numbers above (t - 1) * kAttemptsPerTerm:
/// so a number that an earlier manager gave, and that nobody remembers, is never given again.
///
/// A manager that is not the datacenter's first starts nothing before it is settled: before the
/// master told its leases, and the agent of each told what runs there (or the lease ended). What an
/// earlier manager started is adopted, not started twice.
///
/// An attempt that was declared lost stays lost: should it turn up again, it is stopped and its
/// outputs are dropped. The one that was started instead goes on.
class SubJob {
 public:
  struct Parts {
    const JobContext* context = nullptr;
    const StageTable* stages = nullptr;
    Recorder* recorder = nullptr;
    EventLog* events = nullptr;
    Outbox* outbox = nullptr;
  };
  explicit SubJob(const Parts& parts);

  // ---- What the records say (sub_job.cc) ----

  /// The chunk's tasks are this datacenter's. Precondition: the stage's record is known. A task
  /// whose spent attempts reach its finished one is opened again; those are returned: the caller
  /// takes them out of the StageTable first, then calls Reopened.
  std::vector<TaskRef> Assign(int stage, const v1::AssignmentRecord& record, absl::Time now);
  void Reopened(TaskRef ref, absl::Time now);
  /// After a restart: what the events tell of earlier attempts.
  void RestoreEvents(const v1::EventsRecord& record);
  /// The task's result is in ZooKeeper. The caller puts it into the StageTable.
  v1::FinishedTask TakeResult(const AttemptRef& attempt);
  /// A task that others may read finished. The caller put it into the StageTable.
  void UpstreamFinished(TaskRef upstream, absl::Time now);
  /// Finished tasks are finished no more: what waits to read them waits for them again. The caller
  /// took all of them out of the StageTable.
  void UpstreamLost(const std::vector<TaskRef>& upstream);
  /// The stage's record came: it may have no task, and so be complete.
  void UpstreamReleased(int upstream_stage, absl::Time now);
  /// This datacenter's finished tasks of a chunk, those included whose end is being recorded.
  v1::FinishedRecord FinishedRecordOf(int stage, int chunk) const;

  // ---- Leases and agents (sub_job_leases.cc) ----

  void MasterUp(const v1::JobMasterWelcome& welcome, absl::Time now);
  void MasterDown();
  void LeaseGranted(const v1::LeaseGranted& granted, absl::Time now);
  void LeaseRevoked(const v1::LeaseRevoked& revoked, absl::Time now);
  void SetMasterReasons(v1::DemandReasons reasons) { master_reasons_ = std::move(reasons); }
  void AgentUp(const std::string& node, const v1::TaskWelcome& welcome, absl::Time now);
  void AgentDown(const std::string& node);

  // ---- Reports (sub_job_reports.cc) ----

  void Reported(const std::string& node, const v1::TaskReport& report, absl::Time now);
  void Refused(const std::string& node, const v1::TaskRefused& refused, absl::Time now);

  // ---- What is done of itself (sub_job_start.cc) ----

  /// Called at the end of every step: starts what can be started, and tells the master at once if
  /// more containers can be used.
  void Work(absl::Time now);
  /// Called once per period L: gives idle leases back, and tells the master if fewer are wanted.
  ///
  /// An idle lease is kept for one period if the job may still use it (some stage is not released
  /// yet, or a task waits for its next attempt), so that a chain of stages reuses its containers.
  void Period(absl::Time now);
  /// Stops everything; nothing is started any more.
  void StopAll(const std::string& reason, absl::Time now);
  bool stopping() const { return stopping_; }
  /// Tasks whose attempts have not ended.
  int started() const { return static_cast<int>(started_.size()); }
  absl::Time NextWake(absl::Time now) const;

  // ---- What is told of it (sub_job_view.cc) ----

  const OwnCounts& counts(int stage) const { return counts_[stage]; }
  int containers() const { return static_cast<int>(leases_.all().size()); }
  std::vector<v1::WaitReason> Waits(absl::Time now) const;
  std::vector<v1::TaskStatus> RunningTasks() const;
  /// Why the job can't go on; taken once.
  std::optional<std::string> TakeFatal() { return std::exchange(fatal_, std::nullopt); }
  /// Partitions that can't be read any more; taken once.
  std::vector<v1::LostPartition> TakeLost() { return std::exchange(lost_, {}); }

 private:
  struct Agent {
    std::string address;
    /// Its welcome of the present session was read.
    bool up = false;
    bool welcomed_once = false;
  };
  class QueueView;

  OwnTask& Own(TaskRef ref) { return tasks_[ref.stage][ref.task]; }
  const OwnTask& Own(TaskRef ref) const { return tasks_[ref.stage][ref.task]; }
  bool IsOwn(TaskRef ref) const;
  void SetPhase(TaskRef ref, OwnTask::Phase phase);
  void Leave(TaskRef ref, OwnTask::Phase phase);
  void Enter(TaskRef ref, OwnTask::Phase phase);
  void AssignOne(int stage, const v1::AssignedTask& assigned, absl::Time now);
  void Consider(TaskRef ref, absl::Time now);
  void ConsiderStage(int stage, absl::Time now);
  void Withdraw(TaskRef ref);
  std::string PreferredNode(TaskRef ref) const;

  void Settle(absl::Time now);
  void Requeue(TaskRef ref, absl::Duration pause, absl::Time now);
  void Lose(TaskRef ref, const std::string& why, absl::Time now);
  void LoseLease(const std::string& lease, const std::string& why, absl::Time now);
  void LosePartitionsOn(const std::string& node);
  void OpenAgentOf(const HeldLease& lease);
  void CloseUnusedAgents();
  void ContainerFailed(const HeldLease& lease, const v1::LeaseRevoked& revoked,
                       const std::string& why, absl::Time now);

  // What a report means, by how the attempt ended.
  void Going(const std::string& node, TaskRef ref, const v1::TaskReport& report, absl::Time now);
  bool Adopt(const std::string& node, TaskRef ref, const v1::TaskReport& report, absl::Time now);
  void Ended(const std::string& node, TaskRef ref, const v1::TaskReport& report, absl::Time now);
  void EndedNow(const std::string& node, TaskRef ref, const v1::TaskReport& report, absl::Time now);
  void WentAway(const std::string& node, TaskRef ref, const v1::TaskReport& report, absl::Time now);
  void Succeeded(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                 absl::Time now);
  void FailedByItself(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                      const std::string& what, absl::Time now);
  void FailedToStart(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                     absl::Time now);
  void LostItsInput(const std::string& node, TaskRef ref, const v1::TaskReport& report,
                    absl::Time now);
  void Acknowledge(const std::string& node, const AttemptRef& attempt, bool discard);
  void RecordEnd(const std::string& node, const AttemptRef& attempt, v1::JobEvent::Kind kind,
                 const std::string& message, absl::Time now);

  std::vector<struct OpenContainer> OpenContainers(std::map<std::string, int>* starts_left,
                                                   absl::Time now);
  void Start(TaskRef ref, const std::string& lease, absl::Time now);
  v1::Desire Wanted() const;
  void TellDesire(v1::Desire desire);
  bool MayBeUsed(const HeldLease& lease) const;
  std::vector<std::string> LeasesToGiveBack(absl::Time now) const;
  void GiveBack(const std::vector<std::string>& leases);
  int64_t AttemptFloor() const;

  const JobContext& context_;
  const StageTable& stages_;
  Recorder& recorder_;
  EventLog& events_;
  Outbox& outbox_;

  std::vector<ContainerShape> shapes_;  // distinct ones
  std::vector<int> shape_of_;           // by stage
  std::vector<std::vector<OwnTask>> tasks_;
  std::vector<OwnCounts> counts_;
  std::vector<std::set<int>> held_;  // by stage
  std::set<std::pair<absl::Time, TaskRef>> paused_;
  std::set<TaskRef> started_;
  TaskQueue queue_;
  LeaseTable leases_;
  std::map<std::string, Agent> agents_;  // those with a session wanted
  NodeHealth health_;
  std::map<std::string, int> image_failures_;  // in a row, by image

  bool master_up_ = false;
  bool settled_ = false;
  bool leases_told_ = false;
  bool stopping_ = false;
  bool more_waits_ = false;  // since the desire was told
  std::optional<v1::Desire> told_;
  v1::DemandReasons master_reasons_;
  std::optional<std::string> fatal_;
  std::vector<v1::LostPartition> lost_;
};

}  // namespace houtu::jobmanager
