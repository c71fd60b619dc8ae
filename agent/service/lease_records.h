// LeaseRecords: what must survive the agent's restart, on disk.
//
//   <lease>/records/lease               StartLease: the lease was accepted
//   <lease>/records/container           Lease: image and network of the container started last
//   <lease>/records/end                 LeaseReport: how it ended
//   <lease>/records/<attempt>.spec      TaskSpec: the attempt was taken
//   <lease>/records/<attempt>.end       TaskReport: how it ended
//   <root>/terms                        one "master N" and "manager JOB N" a line
//
// Each is written whole (through a rename), so a reader sees the old one or the new one. Nothing is
// synced: the records guard against the agent's death; a machine that loses its power loses its
// containers, too, and its leases end by that.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/core/events.h"
#include "agent/core/shapes.h"
#include "agent/service/work_paths.h"

namespace houtu::agent {

/// Owner: main. Thread-safe for different leases. Errors as ErrnoError says.
class LeaseRecords {
 public:
  explicit LeaseRecords(WorkPaths paths) : paths_(std::move(paths)) {}

  absl::Status WriteLease(const v1::StartLease& start) const;
  absl::Status WriteContainer(const std::string& lease_id, const ContainerShape& shape) const;
  absl::Status WriteLeaseEnd(const v1::LeaseReport& report) const;
  absl::Status WriteSpec(const v1::TaskSpec& spec) const;
  absl::Status WriteAttemptEnd(const v1::TaskReport& report) const;
  void RemoveAttempt(const std::string& lease_id, const AttemptKey& key) const;

  absl::Status WriteTerms(const Terms& terms) const;
  /// None where there is no such file. DATA_LOSS: it can't be understood.
  absl::StatusOr<Terms> ReadTerms() const;

  struct Found {
    /// Without what only the runtime knows: running, exits.
    std::vector<RecoveredLease> leases;
    /// Folders of leases that were never recorded.
    std::vector<std::string> unknown;
  };
  absl::StatusOr<Found> Scan() const;

 private:
  std::filesystem::path Records(const std::string& lease_id) const {
    return paths_.lease(lease_id) / "records";
  }
  absl::StatusOr<RecoveredLease> ReadLease(const std::string& lease_id) const;

  WorkPaths paths_;
};

}  // namespace houtu::agent
