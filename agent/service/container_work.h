// ContainerWork: the blocking work on leases' containers; its results are AgentCore's events.
#pragma once

#include <functional>
#include <string>

#include "agent/core/effects.h"
#include "agent/core/events.h"
#include "agent/partitions/job_registry.h"
#include "agent/runtime/container_runtime.h"
#include "agent/service/lease_records.h"
#include "agent/service/rootfs_source.h"
#include "agent/service/work_paths.h"
#include "houtu/v1/config.pb.h"

namespace houtu::agent {

/// First host user id of the lease's container.
uint32_t UidBaseOf(const v1::AgentConfig& config, const v1::StartLease& lease);

/// Bytes free for us in the work folder; 0 where that can't be asked.
int64_t DiskFreeBytes(const WorkPaths& paths);

/// Called by workers, at most one at a time for one lease. Owner: the shell.
class ContainerWork {
 public:
  struct Parts {
    const v1::AgentConfig* config = nullptr;
    const WorkPaths* paths = nullptr;
    const LeaseRecords* records = nullptr;
    const JobRegistry* jobs = nullptr;
    ContainerRuntime* runtime = nullptr;
    RootfsSource* rootfs = nullptr;
  };
  /// `post`: events that come later, from the runtime's own threads.
  ContainerWork(Parts parts, std::function<void(Event)> post)
      : parts_(parts), post_(std::move(post)) {}

  LeaseRecorded Record(const RecordLease& effect) const;
  ContainerStarted Start(const StartContainer& effect) const;
  ContainerDestroyed Destroy(const DestroyContainer& effect) const;
  void Forget(const std::string& lease_id) const;
  /// Whether a file can be written, the reserve is free, and a container starts.
  Probed Probe() const;

  /// Completes what the records say by what the runtime knows, and watches what runs. INTERNAL: the
  /// runtime could not be asked.
  absl::Status Recover(RecoveredLease* lease) const;
  /// A lease's folder without a record: nothing of it may stay.
  void RemoveUnknown(const std::string& lease_id) const;

 private:
  absl::Status StartIn(const StartContainer& effect, const std::filesystem::path& rootfs) const;
  absl::Status Watch(const std::string& lease_id, int generation) const;
  absl::Status ProbeContainer() const;
  absl::Status RecoverAttempts(RecoveredLease* lease) const;

  Parts parts_;
  std::function<void(Event)> post_;
};

}  // namespace houtu::agent
