// JobWriter: what a leading master writes about jobs: submissions, cancel requests, ends that no
// manager can write, removal after the retention. Every multi checks the leader's term first.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordination/blocking.h"
#include "common/records/paths.h"
#include "houtu/v1/record.pb.h"

namespace houtu::master {

/// Blocks on ZooKeeper: for workers. Cheap to make, one per request.
class JobWriter {
 public:
  JobWriter(coordination::BlockingCoordination store, RecordPaths paths,
            coordination::CheckOp term_check)
      : store_(store), paths_(std::move(paths)), term_check_(std::move(term_check)) {}

  /// Records the job and answers the record that is there: `record`, or the earlier one if the same
  /// job was recorded under this id before (then `is_new` is false). ALREADY_EXISTS: another job
  /// has the id; RESOURCE_EXHAUSTED: the record's limit, or jobs_active_max unended jobs; ABORTED:
  /// leads no more.
  struct Submitted {
    v1::JobRecord record;
    bool is_new = false;
  };
  absl::StatusOr<Submitted> Submit(const v1::JobRecord& record, int jobs_active_max);

  /// The account's number; given now if it is new.
  absl::StatusOr<int> EnsureAccount(const std::string& account);

  /// OK also if it was requested before.
  absl::Status RequestCancel(const std::string& job, const std::string& by, absl::Time now);

  /// OK also if it has ended.
  absl::Status EndJob(const std::string& job, v1::JobState state, const std::string& message,
                      absl::Time now);

  /// Removes the job's records, the deepest first.
  absl::Status Remove(const std::string& job);

 private:
  /// The record of the same job under the same id; NOT_FOUND: there is none.
  absl::StatusOr<v1::JobRecord> FindSame(const v1::JobRecord& record) const;
  absl::Status RemoveTree(const std::string& path);

  const coordination::BlockingCoordination store_;
  const RecordPaths paths_;
  const coordination::CheckOp term_check_;
};

}  // namespace houtu::master
