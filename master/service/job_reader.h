// JobReader: jobs as clients see them, put together from their records in ZooKeeper.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/coordination/blocking.h"
#include "common/records/paths.h"
#include "houtu/v1/client_service.pb.h"
#include "houtu/v1/record.pb.h"
#include "houtu/v1/status.pb.h"
#include "master/core/events.h"

namespace houtu::master {

/// The status of a job from its records; `stored` is empty before its primary wrote one, `waits`
/// are then why.
v1::JobStatus AssembleStatus(const v1::JobRecord& record, const v1::JobStateRecord& state,
                             const v1::JobStatus* stored, bool cancel_requested,
                             const std::vector<v1::WaitReason>& waits);

/// Whether a job in that state has ended.
bool HasEnded(v1::JobState state);

/// Blocks on ZooKeeper: for workers. Cheap to make, one per request.
class JobReader {
 public:
  /// Most tasks of one page.
  static constexpr int kTasksPageMax = 5000;
  static constexpr int kTasksPageDefault = 1000;
  /// A page ends early when it has this many bytes: far below the limit of a message.
  static constexpr size_t kPageBytesMax = 4 << 20;

  JobReader(coordination::BlockingCoordination store, RecordPaths paths)
      : store_(store), paths_(std::move(paths)) {}

  /// NOT_FOUND: no such job.
  absl::StatusOr<v1::JobRecord> Record(const std::string& job) const;
  absl::StatusOr<v1::JobStatus> Status(const v1::JobRecord& record,
                                       const std::vector<v1::WaitReason>& waits) const;
  absl::StatusOr<v1::ListTasksResponse> Tasks(const v1::JobRecord& record,
                                              const v1::ListTasksRequest& request) const;
  absl::StatusOr<v1::ListOutputsResponse> Outputs(const v1::JobRecord& record,
                                                  const v1::ListOutputsRequest& request) const;
  absl::StatusOr<std::vector<v1::JobEvent>> Events(const v1::JobRecord& record) const;

  /// A job that has not ended, for the core. NOT_FOUND: it has.
  absl::StatusOr<ActiveJob> Active(const std::string& job, const std::string& datacenter) const;
  absl::StatusOr<bool> CancelRequested(const std::string& job) const;

 private:
  /// A stage's chunk over all datacenters.
  struct Chunk {
    std::map<int, std::pair<std::string, v1::AssignedTask>> assigned;  // task: datacenter, what
    std::map<int, std::pair<std::string, v1::FinishedTask>> finished;
  };
  absl::StatusOr<Chunk> ReadChunk(const v1::JobRecord& record, const std::string& stage,
                                  int chunk) const;
  template <typename Message>
  absl::StatusOr<std::optional<Message>> Read(const std::string& path) const;

  const coordination::BlockingCoordination store_;
  const RecordPaths paths_;
};

}  // namespace houtu::master
