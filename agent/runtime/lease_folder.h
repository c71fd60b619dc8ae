// The lease's folder on the node.
//
//   <lease_dir>/io/                  seen as /houtu in the container; host root's: tasks add
//   nothing
//     ctl/executor.sock, ready       the executor's; ctl belongs to the container's user 0
//     t/<stage.task.attempt>/        the attempt's; belongs to the container's user 0
//       in/                          inputs; host root's: readable, not changeable
//       out/ work/                   outputs, working folder; the container's user 0's
//       log.head log.ring status     written by the executor
//   <lease_dir>/run/                 the runtime's own, not seen in the container
//     config.json, runc.log          runc's bundle
//     container                      identity of the container's first process
//     tasks/<stage.task.attempt>     a link to the job's id: this attempt was started
//
// Tasks of one lease run under one user id: they can read and spoil each other's folders. All of
// them belong to the same job, so this crosses no border. What lies below io/t is therefore never
// trusted: links are not followed, sizes are bounded.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/runtime/container_runtime.h"

namespace houtu::agent {

/// Where the lease's io folder stands in the container.
inline constexpr char kContainerIo[] = "/houtu";
/// Mount point of houtu-executor in the container; the root file system must have it
/// (agent/images).
inline constexpr char kContainerExecutor[] = "/houtu-executor";

class LeaseFolder {
 public:
  explicit LeaseFolder(std::filesystem::path lease_dir) : dir_(std::move(lease_dir)) {}

  std::filesystem::path io() const { return dir_ / "io"; }
  std::filesystem::path ctl() const { return dir_ / "io" / "ctl"; }
  std::filesystem::path tasks() const { return dir_ / "io" / "t"; }
  std::filesystem::path task(const AttemptKey& id) const { return tasks() / FolderName(id); }
  std::filesystem::path run() const { return dir_ / "run"; }
  std::filesystem::path container() const { return run() / "container"; }
  std::filesystem::path started() const { return run() / "tasks"; }

  /// Makes io/, ctl/, t/ and run/. As ErrnoError says.
  absl::Status Prepare(uint32_t uid_base) const;

  /// Notes that the attempt was started. ALREADY_EXISTS: it was before.
  absl::Status MarkStarted(const AttemptKey& id) const;
  /// Takes the note back: the start failed.
  void UnmarkStarted(const AttemptKey& id) const;
  /// The attempts noted, sorted. Empty where the folder is gone.
  absl::StatusOr<std::vector<AttemptKey>> Started() const;

  /// The attempt's end; nullopt: none recorded yet. FAILED_PRECONDITION: its status file is not one
  /// of the executor's making.
  absl::StatusOr<std::optional<TaskExit>> ReadExit(const AttemptKey& id) const;

 private:
  std::filesystem::path dir_;
};

/// The path in the container of the attempt's folder: /houtu/t/<stage.task.attempt>.
std::string ContainerTaskDir(const AttemptKey& id);

/// Makes the attempt's folder with in/, out/ and work/ and the owners that the container needs
/// (`uid_base` as in ContainerSpec). Call before StartTask, after the container's first start. OK
/// if they exist. As ErrnoError says.
absl::Status PrepareTaskDir(const std::filesystem::path& lease_dir, const AttemptKey& id,
                            uint32_t uid_base);

/// Takes a folder name of FolderName() apart; nullopt: it is none.
std::optional<AttemptKey> ParseFolderName(std::string_view name, std::string_view job);

/// A status file's text as an exit; nullopt: it lacks what each has.
std::optional<TaskExit> ParseStatus(std::string_view text, const AttemptKey& id);

}  // namespace houtu::agent
