// ContainerRuntime: containers of leases and the tasks in them, as AgentCore's shell uses them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/ids.h"
#include "common/base/resources.h"
#include "houtu/v1/job.pb.h"

namespace houtu::agent {

/// A folder or file of the node, seen in the container.
struct BindMount {
  std::filesystem::path source;
  std::string target;
  bool writable = false;
};

/// A lease's container. Everything of it lies below lease_dir; the container sees lease_dir/io as
/// /houtu.
struct ContainerSpec {
  std::string lease_id;
  std::filesystem::path lease_dir;
  /// The root file system, already mounted or laid out by agent/images; never written to.
  std::filesystem::path rootfs;
  v1::Network network = v1::NETWORK_NONE;
  Resources limits;
  /// The cpu of `limits` is a weight alone, no ceiling.
  bool cpu_burst = false;
  int64_t pids_max = 0;
  /// Host user id of the container's user 0; 65536 ids from there belong to it.
  uint32_t uid_base = 0;
  std::vector<BindMount> binds;
};

enum class ContainerState { kAbsent, kRunning, kStopped };

/// One attempt's program. Paths are as the container sees them, below /houtu.
struct TaskLaunch {
  AttemptKey id;
  std::string lease_id;
  std::vector<std::string> command;
  /// The whole environment, NAME=value.
  std::vector<std::string> env;
  std::string working_dir;
  /// Limits of the task's own cgroup.
  Resources limits;
  /// As ContainerSpec::cpu_burst.
  bool cpu_burst = false;
  int64_t pids_max = 0;
  std::optional<absl::Duration> timeout;
  absl::Duration grace = absl::Seconds(5);
  /// Bytes of log kept: half from the start, half from the end.
  int64_t log_bytes_max = 0;
};

/// What a task's status file says: how its first process ended.
struct TaskExit {
  AttemptKey id;
  /// 0 to 255; -1 when a signal ended it.
  int exit_status = 0;
  int signal = 0;
  bool timed_out = false;
  /// StopTask was called before the end.
  bool stopped = false;
  absl::Time started_at;
  absl::Time ended_at;
};

/// What a task's cgroup counted.
struct TaskUsage {
  int64_t cpu_ms = 0;
  int64_t memory_peak_bytes = 0;
  bool out_of_memory = false;
};

/// Owner: the agent's main. All methods block (runc, the disk) and are called from workers, at most
/// one at a time for one lease; different leases at the same time. Everything it does survives the
/// agent's restart: containers are found again by their lease's id and folder.
class ContainerRuntime {
 public:
  virtual ~ContainerRuntime() = default;

  /// Creates cgroups, starts the container and waits until its executor answers.
  /// RESOURCE_EXHAUSTED, FAILED_PRECONDITION, PERMISSION_DENIED, INTERNAL: the node's fault, with
  /// the errno or the runtime's own first error line. DEADLINE_EXCEEDED: not up within its limit;
  /// nothing is left of it.
  virtual absl::Status StartContainer(const ContainerSpec& spec) = 0;

  /// Ends every process of the container (SIGKILL) and removes container, cgroups and mounts; OK if
  /// absent.
  virtual absl::Status DestroyContainer(const std::string& lease_id,
                                        const std::filesystem::path& lease_dir) = 0;

  /// INTERNAL: the runtime could not be asked.
  virtual absl::StatusOr<ContainerState> Inspect(const std::string& lease_id,
                                                 const std::filesystem::path& lease_dir) = 0;

  /// Starts the program in a process group and a cgroup of its own; returns when exec has succeeded
  /// or failed. NOT_FOUND / PERMISSION_DENIED: the program does not exist or can't be executed (the
  /// task's fault). ALREADY_EXISTS: this attempt was started before. UNAVAILABLE: the container
  /// does not run. RESOURCE_EXHAUSTED: no more processes. INTERNAL: the node's fault.
  virtual absl::Status StartTask(const std::filesystem::path& lease_dir,
                                 const TaskLaunch& launch) = 0;

  /// SIGTERM to the task's process group, SIGKILL to its cgroup after `grace`. Returns at once; the
  /// end comes as an exit. NOT_FOUND: no such task runs.
  virtual absl::Status StopTask(const std::filesystem::path& lease_dir, const AttemptKey& id,
                                absl::Duration grace) = 0;

  /// After an exit: kills what is left in the task's cgroup, reads its counters and removes it. OK
  /// with zeros if the cgroup is gone already.
  virtual absl::StatusOr<TaskUsage> ReapTask(const std::filesystem::path& lease_dir,
                                             const AttemptKey& id) = 0;

  /// The exits recorded in the lease's folder, in any order.
  virtual absl::StatusOr<std::vector<TaskExit>> ListExits(
      const std::filesystem::path& lease_dir) = 0;

  /// Attempts that were started in the lease's folder and have no exit yet.
  virtual absl::StatusOr<std::vector<AttemptKey>> ListRunning(
      const std::filesystem::path& lease_dir) = 0;

  /// Calls `on_exit` from a thread of the runtime's own for each exit that is recorded from now on
  /// in this lease, and `on_container_end` when the container's first process ends. Until Unwatch.
  virtual absl::Status Watch(const std::string& lease_id, const std::filesystem::path& lease_dir,
                             std::function<void(const TaskExit&)> on_exit,
                             std::function<void()> on_container_end) = 0;
  virtual void Unwatch(const std::string& lease_id) = 0;

  /// What works here, for `houtu node show`: "runc", "cgroup", "criu", … with version or reason.
  virtual std::map<std::string, std::string> Features() = 0;
};

}  // namespace houtu::agent
