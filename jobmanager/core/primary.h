// Primary: what the job's first manager does beside its own part. It releases stages, splits their
// tasks over the datacenters, opens lost ones again, and ends the job.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "houtu/v1/job_master_service.pb.h"
#include "houtu/v1/partition_service.pb.h"
#include "houtu/v1/peer_service.pb.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/assignment/assignment.h"
#include "jobmanager/core/event_log.h"
#include "jobmanager/core/job_context.h"
#include "jobmanager/core/outbox.h"
#include "jobmanager/core/recorder.h"
#include "jobmanager/core/stage_table.h"

namespace houtu::jobmanager {

/// Bytes that crossed between datacenters: from, to.
using Transfers = std::map<std::pair<std::string, std::string>, int64_t>;

/// Owner: JobManagerCore, which also owns the parts given to the constructor. Not thread-safe.
///
/// A finished task whose partitions are lost and still needed is opened again by raising the
/// attempts_before of its assignment to the lost attempt: every record of an attempt up to that
/// number is void, whoever wrote it and whenever. So the primary needs no other manager's record.
class Primary {
 public:
  struct Parts {
    const JobContext* context = nullptr;
    StageTable* stages = nullptr;
    Recorder* recorder = nullptr;
    EventLog* events = nullptr;
    Outbox* outbox = nullptr;
  };
  explicit Primary(const Parts& parts);

  /// What an earlier primary recorded. Precondition: the StageTable has the stages' records.
  void Restore(const v1::JobStateRecord& state, absl::Time now);
  void RestoreAssignment(int stage, const std::string& datacenter,
                         const v1::AssignmentRecord& record);

  // ---- Unfolding (primary_unfold.cc, primary_inputs.cc) ----

  /// Marks complete stages as succeeded and releases those that have all they need. Called when
  /// something finished. The stages that became complete or were released.
  void Unfold(absl::Time now);
  void InputsListed(int stage, const std::string& datacenter,
                    const absl::StatusOr<v1::ListInputsResponse>& response, absl::Time now);
  /// Lists inputs again where the master could not be reached, and has the result written again
  /// where an agent could not be.
  void Retry(absl::Time now);
  v1::AssignmentRecord AssignmentRecordOf(int stage, const std::string& datacenter,
                                          int chunk) const;

  // ---- Losses (primary_loss.cc) ----

  /// Whether a record of the attempt is void.
  bool Spent(TaskRef ref, int attempt) const;
  /// Opens the finished tasks again whose partitions are lost and still needed, and no others.
  /// Those opened: the caller takes them out of use.
  std::vector<TaskRef> Reopen(const std::vector<v1::LostPartition>& lost, absl::Time now);

  // ---- The end (primary_end.cc) ----

  /// The job goes to its end: FAILED or CANCELLED. Only the first call counts.
  void End(v1::JobState state, std::string message, absl::Time now);
  bool ending() const { return ending_.has_value(); }
  /// Records the end once nothing of the job runs here, or it takes too long.
  void TryEnd(int tasks_started, absl::Time now);
  /// The tasks opened again, as Reopen.
  std::vector<TaskRef> OutputWritten(const absl::StatusOr<v1::WriteOutputResponse>& response,
                                     absl::Time now);
  const v1::JobStateRecord& state() const { return state_; }

  // ---- The others, and what clients are shown (primary_view.cc) ----

  void Heard(v1::SubJobReport report);
  struct View {
    const class SubJob* own = nullptr;
    const Transfers* transfers = nullptr;
    absl::Time now;
  };
  v1::JobStatus Status(const View& view) const;
  v1::RunningRecord Running(const View& view) const;

  absl::Time NextWake() const;

 private:
  struct Assigned {
    std::vector<int> datacenter;       // by task: index into the job's datacenters; -1: none yet
    std::vector<int> attempts_before;  // by task
    std::vector<v1::RawInput> inputs;  // by task; empty: it has none
  };
  struct Listing {
    std::set<std::string> asked;                     // datacenters that have not answered
    std::map<int, std::vector<v1::RawInput>> tasks;  // by input
    std::map<std::string, absl::Time> retry_at;      // datacenters to ask again
    std::map<std::string, int> failures;
  };
  struct Ending {
    v1::JobState state;
    std::string message;
    absl::Time deadline;
    bool marked = false;
  };

  void Advance(int stage, absl::Time now);
  void Succeed(int stage, absl::Time now);
  void FinishJob(absl::Time now);
  void StartRelease(int stage, absl::Time now);
  void List(int stage, const std::string& datacenter);
  absl::Status TakeListing(int stage, const std::string& datacenter,
                           const v1::ListInputsResponse& response, Listing* listing) const;
  void FinishListing(int stage, absl::Time now);
  absl::Status CheckCounts(int stage, int tasks) const;
  void Release(int stage, int tasks, std::vector<v1::RawInput> inputs, absl::Time now);
  InputBytes BytesFor(int stage, int tasks, const std::vector<v1::RawInput>& inputs) const;
  void AddBytes(const StageFacts::Edge& need, InputBytes* bytes) const;
  void PinToUpstream(int stage, InputBytes* bytes) const;
  void MarkStage(int stage);
  void MarkAssignment(int stage, int datacenter, int chunk);
  bool Needed(TaskRef ref) const;
  /// Where it is being written: the agents to choose from.
  std::vector<std::string> OutputAgents() const;
  bool StartWritingOutput(absl::Time now);
  /// The agent could not be reached, or went away.
  void OutputNotWritten(const absl::Status& status, absl::Time now);
  absl::Duration LongestGrace() const;
  int DatacenterIndex(const std::string& datacenter) const;
  void Tell(v1::JobEvent::Kind kind, int stage, std::string message, absl::Time now);
  v1::StageStatus StatusOf(int stage, const SubJob& own) const;
  bool HasUnfinishedTasks(int datacenter) const;
  void AddWaits(const View& view, v1::JobStatus* status) const;

  const JobContext& context_;
  StageTable& stages_;
  Recorder& recorder_;
  EventLog& events_;
  Outbox& outbox_;
  std::vector<Assigned> assigned_;   // by stage
  std::map<int, Listing> listings_;  // by stage
  std::map<std::string, v1::SubJobReport> peers_;
  v1::JobStateRecord state_;
  std::optional<Ending> ending_;

  struct Writing {
    std::string agent;  // asked; empty: none
    int tries = 0;
    std::set<std::string> unreached;  // agents, since the last that was not tried yet
    absl::Time retry_at = absl::InfiniteFuture();
  };
  Writing output_;
};

/// Tasks of one chunk of a stage with so many tasks.
int TasksPerChunk(int tasks);

}  // namespace houtu::jobmanager
