// PartitionStore: what attempts left behind, whole or not at all.
//
//   <root>/<job>/<stage>/<task>.<attempt>/    a committed attempt: its files, `.manifest`
//   <root>/<job>/.new-<stage.task.attempt>/   being committed; deleted at the next start
//
// Commit takes the attempt's out folder out of the container's reach by a rename, checks and sums
// its files there, makes them the agent's own (no container can change them, though tasks may read
// them by hard link), writes the manifest and renames the folder to its place: that rename is the
// commit (C26).
//
// Nothing is synced to the disk per task. A process's or the agent's death loses nothing that was
// written; a machine's power loss may, but then whoever reads a partition finds its size or
// checksum wrong, and it is recomputed by lineage like any other lost partition. A sync per task
// would cost milliseconds on every task to save that in a case which is rare and handled.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/partitions/files.h"
#include "common/base/ids.h"
#include "houtu/v1/partition_service.pb.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// Most files that one attempt may leave.
inline constexpr int kOutputFilesMax = 10'000;

/// Owner: the agent's shell. Thread-safe for different attempts: it holds nothing but a path.
class PartitionStore {
 public:
  explicit PartitionStore(std::filesystem::path root) : root_(std::move(root)) {}

  /// Commits `task_dir`/out. Again for an attempt that is committed: what was committed, and
  /// `task_dir`/out is left alone. Returns the files sorted by name.
  /// INVALID_ARGUMENT: the outputs can't be taken (a declared one is missing, a link, a device, a
  /// bad name, too many): the task's fault; nothing is left of them. Others: the node's.
  absl::StatusOr<std::vector<v1::Partition>> Commit(const AttemptKey& id,
                                                    const std::filesystem::path& task_dir,
                                                    const std::vector<std::string>& declared) const;

  /// The committed files. NOT_FOUND: not committed here; DATA_LOSS: damaged.
  absl::StatusOr<std::vector<v1::FileHeader>> List(const AttemptKey& id) const;

  /// A committed file, open for reading. NOT_FOUND.
  absl::StatusOr<Fd> Open(const AttemptKey& id, const std::string& name) const;

  /// Where the attempt's files are once it is committed.
  std::filesystem::path FolderOf(const AttemptKey& id) const;

  /// Deletes what the attempt committed; OK if nothing.
  absl::Status Discard(const AttemptKey& id) const;
  /// Deletes all of the job.
  absl::Status Forget(const std::string& job) const;
  /// Deletes what an agent that died left half committed. Call before the first Commit.
  absl::Status RemoveLeftovers() const;

 private:
  absl::Status TakeOut(const std::filesystem::path& task_dir,
                       const std::filesystem::path& fresh) const;
  absl::Status Publish(const std::filesystem::path& fresh, const AttemptKey& id) const;

  std::filesystem::path root_;
};

}  // namespace houtu::agent
