// JobManagerCore: a job manager's brain, a deterministic state machine. Events in with the time,
// effects out. No clock, thread, socket, file or randomness.
//
//     Recovered --> [ SubJob: tasks, leases, agents ] --WriteRecords--> RecordsWritten --+
//                   [ Primary: stages, assignments  ]                                    |
//        ^                                                                               |
//        +--- what was recorded takes effect: tasks finish, stages are released ---------+
//
// Nothing is told to an agent, to another stage or to a client before the record that says it was
// written. Every manager of a job runs this core; the one of the primary's datacenter also has a
// Primary. Who is the primary is given by the job's record.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "jobmanager/core/effect.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/event_log.h"
#include "jobmanager/core/job_context.h"
#include "jobmanager/core/outbox.h"
#include "jobmanager/core/primary.h"
#include "jobmanager/core/recorder.h"
#include "jobmanager/core/stage_table.h"
#include "jobmanager/core/sub_job.h"

namespace houtu::jobmanager {

/// Owner: the shell, or a simulation. Not thread-safe. The first event is Recovered. After a Finish
/// effect no event is handled any more.
class JobManagerCore {
 public:
  /// `context.job` must be a recorded job in its canonical form.
  explicit JobManagerCore(JobContext context);
  JobManagerCore(const JobManagerCore&) = delete;
  JobManagerCore& operator=(const JobManagerCore&) = delete;

  /// `now` never falls from call to call.
  Effects Step(absl::Time now, const Event& event);

  const JobContext& context() const { return context_; }
  const StageTable& stages() const { return stages_; }

 private:
  // One for each event.
  void On(absl::Time now, const Recovered& event);
  void On(absl::Time now, const RecordsWritten& event);
  void On(absl::Time now, const StageRead& event);
  void On(absl::Time now, const AssignmentRead& event);
  void On(absl::Time now, const FinishedRead& event);
  void On(absl::Time now, const StateRead& event);
  void On(absl::Time now, const CancelRequested& event);
  void On(absl::Time now, const MasterConnected& event);
  void On(absl::Time now, const MasterDisconnected& event);
  void On(absl::Time now, const LeaseWasGranted& event);
  void On(absl::Time now, const LeaseWasRevoked& event);
  void On(absl::Time now, const DemandReasonsTold& event);
  void On(absl::Time now, const AgentConnected& event);
  void On(absl::Time now, const AgentDisconnected& event);
  void On(absl::Time now, const TasksReported& event);
  void On(absl::Time now, const StartRefused& event);
  void On(absl::Time now, const InputsListed& event);
  void On(absl::Time now, const OutputWritten& event);
  void On(absl::Time now, const PeerReported& event);
  void On(absl::Time now, const Tick& event);

  // One for each thing that waited for a record.
  void Then(absl::Time now, const ResultRecorded& recorded);
  void Then(absl::Time now, const AssignmentRecorded& recorded);
  void Then(absl::Time now, const EndRecorded& recorded);
  void Then(absl::Time now, const JobEndRecorded& recorded);

  void RestoreStages(const Recovered& event, absl::Time now);
  void ApplyAssignment(int stage, const v1::AssignmentRecord& record, absl::Time now);
  void ApplyFinished(const FinishedRead& event, absl::Time now);
  void AddFinished(TaskRef ref, const std::string& datacenter, const v1::FinishedTask& task,
                   absl::Time now);
  void DropFinished(const std::vector<TaskRef>& dropped);
  void FinishStep(absl::Time now);
  void HandleOutcomes(absl::Time now);
  void LeadOn(absl::Time now);
  bool ToldIsDue(absl::Time now) const;
  void TellOthers(absl::Time now);
  v1::SubJobReport Report(absl::Time now);
  std::string Serialise(const RecordKey& key, absl::Time now) const;
  Effects Collect(absl::Time now);
  absl::Time NextWake(absl::Time now) const;

  const JobContext context_;
  StageTable stages_;
  Recorder recorder_;
  EventLog events_;
  Outbox outbox_;
  SubJob sub_job_;
  std::unique_ptr<Primary> primary_;  // null: this manager is not the primary
  Transfers transfers_;

  bool finished_ = false;
  bool unfold_ = false;   // something finished since the DAG was looked at
  bool changed_ = false;  // since the status, or the report, was told
  absl::Time next_period_ = absl::InfiniteFuture();
  absl::Time told_at_ = absl::InfinitePast();

  // Not the primary: what it is to be told, and records that came before their stage's.
  std::string fatal_;
  std::vector<v1::LostPartition> lost_;
  std::map<int, std::map<int, v1::AssignmentRecord>> early_assignments_;
  std::map<int, std::vector<FinishedRead>> early_finished_;
};

}  // namespace houtu::jobmanager
