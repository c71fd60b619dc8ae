// RuncRuntime: leases' containers by runc, their tasks by houtu-executor.
//
//   StartContainer --> cgroups, <lease>/run/config.json --> runc run --detach --> houtu-executor
//   StartTask      --> a cgroup below the lease's --> executor.sock --> fork, gate, exec
//   exits          <-- inotify on the attempts' folders;  container's end <-- pidfd
//
// runc runs at a container's start and end alone: a task's start is one message to the executor.
#pragma once

#include <sys/types.h>

#include <memory>

#include "agent/runtime/cgroup.h"
#include "agent/runtime/container_runtime.h"
#include "agent/runtime/exit_watcher.h"
#include "agent/runtime/runc_command.h"

namespace houtu::agent {

/// As ContainerRuntime says. It keeps nothing in memory but the watches, so one that is made anew
/// goes on with the containers of the last.
class RuncRuntime : public ContainerRuntime {
 public:
  struct Options {
    /// A path, or a name looked up in PATH.
    std::string runc = "runc";
    /// runc's --root: a folder of the work folder; made if absent. One agent's alone.
    std::filesystem::path state_dir;
    /// Holds houtu-executor.
    std::filesystem::path program_dir;
    /// Cgroup below which the leases' cgroups are made; one agent's alone.
    std::string cgroup_parent = "houtu";
    /// Folders that no container may see, whatever its image: the agent's work folder (other
    /// leases' files lie there), data roots. One that an image lacks is no error.
    std::vector<std::filesystem::path> masked_paths;
    /// From StartContainer's call until the executor answers; one of runc's runs.
    absl::Duration start_limit = absl::Seconds(30);
    absl::Duration runc_limit = absl::Seconds(20);
  };

  /// FAILED_PRECONDITION: no runc, no houtu-executor, no cgroup controllers, or not root: the
  /// message says which. As ErrnoError says.
  static absl::StatusOr<std::unique_ptr<RuncRuntime>> Create(Options options);

  absl::Status StartContainer(const ContainerSpec& spec) override;
  absl::Status DestroyContainer(const std::string& lease_id,
                                const std::filesystem::path& lease_dir) override;
  absl::StatusOr<ContainerState> Inspect(const std::string& lease_id,
                                         const std::filesystem::path& lease_dir) override;
  absl::Status StartTask(const std::filesystem::path& lease_dir, const TaskLaunch& launch) override;
  absl::Status StopTask(const std::filesystem::path& lease_dir, const AttemptKey& id,
                        absl::Duration grace) override;
  absl::StatusOr<TaskUsage> ReapTask(const std::filesystem::path& lease_dir,
                                     const AttemptKey& id) override;
  absl::StatusOr<std::vector<TaskExit>> ListExits(const std::filesystem::path& lease_dir) override;
  absl::StatusOr<std::vector<AttemptKey>> ListRunning(
      const std::filesystem::path& lease_dir) override;
  absl::Status Watch(const std::string& lease_id, const std::filesystem::path& lease_dir,
                     std::function<void(const TaskExit&)> on_exit,
                     std::function<void()> on_container_end) override;
  void Unwatch(const std::string& lease_id) override;
  std::map<std::string, std::string> Features() override;

 private:
  RuncRuntime(Options options, std::string runc_version, std::unique_ptr<Cgroups> cgroups,
              std::unique_ptr<ExitWatcher> watcher);

  absl::Status Launch(const ContainerSpec& spec);
  absl::Status RunProgramIn(const TaskLaunch& launch, pid_t executor,
                            const std::filesystem::path& lease_dir, const std::string& cgroup);
  std::string LeaseCgroup(const std::string& lease_id) const;
  std::string TaskCgroup(const std::string& lease_id, const AttemptKey& id) const;

  Options options_;
  RuncCommand runc_;
  std::string runc_version_;
  std::unique_ptr<Cgroups> cgroups_;
  std::unique_ptr<ExitWatcher> watcher_;
};

}  // namespace houtu::agent
