#include "agent/partitions/partition_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "agent/partitions/manifest.h"
#include "agent/partitions/outputs.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNewPrefix = ".new-";

std::vector<v1::Partition> PartitionsOf(const std::vector<v1::FileHeader>& files) {
  std::vector<v1::Partition> partitions;
  for (const v1::FileHeader& file : files) {
    v1::Partition& partition = partitions.emplace_back();
    partition.set_name(file.name());
    partition.set_size_bytes(file.size_bytes());
  }
  return partitions;
}

}  // namespace

fs::path PartitionStore::FolderOf(const AttemptKey& id) const {
  return root_ / id.job / id.stage / fmt::format("{}.{}", id.task, id.attempt);
}

absl::StatusOr<std::vector<v1::Partition>> PartitionStore::Commit(
    const AttemptKey& id, const fs::path& task_dir,
    const std::vector<std::string>& declared) const {
  const fs::path fresh = root_ / id.job / (std::string(kNewPrefix) + FolderName(id));
  if (absl::Status status = TakeOut(task_dir, fresh); !status.ok()) {
    // Already committed: the agent died between that and its record.
    if (const auto files = List(id); files.ok()) {
      return PartitionsOf(*files);
    }
    return status;
  }
  absl::StatusOr<std::vector<v1::FileHeader>> files = SealOutputs(fresh, id, declared);
  absl::Status status = files.status();
  if (status.ok() && !files->empty()) {
    status = WriteManifest(fresh, *files);
  }
  if (status.ok()) {
    status = Publish(fresh, id);
  }
  if (!status.ok()) {
    RemoveTree(fresh).IgnoreError();
    return status;
  }
  return PartitionsOf(*files);
}

absl::Status PartitionStore::TakeOut(const fs::path& task_dir, const fs::path& fresh) const {
  const fs::path out = task_dir / "out";
  if (rename(out.c_str(), fresh.c_str()) == 0) {
    return absl::OkStatus();
  }
  // The job's first commit here, or a commit that died halfway before this one.
  HOUTU_RETURN_IF_ERROR(MakeFolders(fresh.parent_path()));
  if (struct stat st; lstat(out.c_str(), &st) == 0) {
    HOUTU_RETURN_IF_ERROR(RemoveTree(fresh));
  }
  if (rename(out.c_str(), fresh.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (errno == ENOENT) {
    return absl::InvalidArgumentError("the output directory was removed by the task");
  }
  return ErrnoError(errno, out.native());
}

absl::Status PartitionStore::Publish(const fs::path& fresh, const AttemptKey& id) const {
  const fs::path folder = FolderOf(id);
  if (rename(fresh.c_str(), folder.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (errno == ENOENT) {
    HOUTU_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
    if (rename(fresh.c_str(), folder.c_str()) == 0) {
      return absl::OkStatus();
    }
  }
  return ErrnoError(errno, folder.native());
}

absl::StatusOr<std::vector<v1::FileHeader>> PartitionStore::List(const AttemptKey& id) const {
  return ReadManifest(FolderOf(id));
}

absl::StatusOr<Fd> PartitionStore::Open(const AttemptKey& id, const std::string& name) const {
  const fs::path path = FolderOf(id) / name;
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) {
    return ErrnoError(errno, path.native());
  }
  return fd;
}

absl::Status PartitionStore::Discard(const AttemptKey& id) const {
  return RemoveTree(FolderOf(id));
}

absl::Status PartitionStore::Forget(const std::string& job) const {
  return RemoveTree(root_ / job);
}

absl::Status PartitionStore::RemoveLeftovers() const {
  std::error_code error;
  for (fs::directory_iterator job(root_, error), end; !error && job != end; job.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator it(job->path(), inner); !inner && it != end; it.increment(inner)) {
      if (it->path().filename().native().starts_with(kNewPrefix)) {
        HOUTU_RETURN_IF_ERROR(RemoveTree(it->path()));
      }
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError(error.value(), root_.native());
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
