// Recovery: taking the term, and reading what lies in ZooKeeper of the job.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordination/blocking.h"
#include "common/records/paths.h"
#include "houtu/v1/config.pb.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/core/event.h"

namespace houtu::jobmanager {

/// NOT_FOUND: there is no such job (any more).
absl::StatusOr<v1::JobRecord> ReadJob(const coordination::BlockingCoordination& store,
                                      const RecordPaths& paths, const std::string& job);

/// Where a manager listens.
struct ManagerPorts {
  int grpc = 0;
  int http = 0;
};

/// Writes this manager's record; from then on every multi of an earlier manager of this datacenter
/// is refused. Answers the term, from 1: one above the record's version.
absl::StatusOr<int64_t> TakeTerm(const coordination::BlockingCoordination& store,
                                 const RecordPaths& paths, const v1::JobManagerConfig& config,
                                 ManagerPorts ports, absl::Time now);

/// Everything that the core needs to go on where an earlier manager ended. Read after TakeTerm, so
/// that nothing of this datacenter changes any more.
absl::StatusOr<Recovered> ReadRecords(const coordination::BlockingCoordination& store,
                                      const RecordPaths& paths, const v1::JobRecord& job,
                                      const std::string& datacenter);

}  // namespace houtu::jobmanager
