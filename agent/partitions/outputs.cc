#include "agent/partitions/outputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "agent/partitions/files.h"
#include "agent/partitions/partition_store.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

absl::Status CheckName(const std::string& name) {
  if (name.front() == '.') {
    return Error(absl::StatusCode::kInvalidArgument,
                 "output {}: names that start with a dot are for temporary files; delete it or "
                 "give it another name",
                 LogValue(name));
  }
  if (!IsUtf8(name)) {
    return Error(absl::StatusCode::kInvalidArgument, "output {}: the name is not UTF-8",
                 LogValue(name));
  }
  return absl::OkStatus();
}

/// Names in the folder but "." and "..", sorted.
absl::StatusOr<std::vector<std::string>> Names(int folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fdopendir(dup(folder)), &closedir);
  if (dir == nullptr) {
    return ErrnoError(errno, "the output directory");
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir.get())) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    if (names.size() == kOutputFilesMax) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "more than {} output files, the limit of one task", kOutputFilesMax);
    }
    names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status MakeOwn(int fd, const struct stat& st, mode_t mode) {
  if ((st.st_uid != geteuid() || st.st_gid != getegid()) && fchown(fd, geteuid(), getegid()) != 0) {
    return ErrnoError(errno, "chown of an output");
  }
  return fchmod(fd, mode) == 0 ? absl::OkStatus() : ErrnoError(errno, "chmod of an output");
}

/// A file of several names (a hard link to an input, say) is replaced by a copy: to change its
/// owner would change its other names' too.
absl::StatusOr<Fd> Unshare(int folder, const std::string& name, Fd shared, int64_t size) {
  if (unlinkat(folder, name.c_str(), 0) != 0) {
    return ErrnoError(errno, name);
  }
  Fd copy(openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  if (!copy.valid()) {
    return ErrnoError(errno, name);
  }
  HOUTU_RETURN_IF_ERROR(CopyBytes(shared.get(), 0, size, copy.get()));
  return copy;
}

absl::StatusOr<v1::FileHeader> SealFile(int folder, const std::string& name, const AttemptKey& id) {
  HOUTU_RETURN_IF_ERROR(CheckName(name));
  // O_NONBLOCK: a named pipe must not make the agent wait for a writer.
  Fd fd(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st{};
  if ((!fd.valid() && (errno == ELOOP || errno == ENXIO)) ||
      (fd.valid() && fstat(fd.get(), &st) == 0 && !S_ISREG(st.st_mode))) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "output {}: not a plain file (a link, a folder or a device)", LogValue(name));
  }
  if (!fd.valid()) {
    return ErrnoError(errno, name);
  }
  if (st.st_nlink > 1) {
    HOUTU_ASSIGN_OR_RETURN(fd, Unshare(folder, name, std::move(fd), st.st_size));
    fstat(fd.get(), &st);
  }
  HOUTU_RETURN_IF_ERROR(MakeOwn(fd.get(), st, 0444));
  v1::FileHeader header;
  header.set_task(id.task);
  header.set_attempt(id.attempt);
  header.set_name(name);
  header.set_size_bytes(st.st_size);
  HOUTU_ASSIGN_OR_RETURN(*header.mutable_sha256(), HashFile(fd.get()));
  return header;
}

absl::Status CheckDeclared(const std::vector<std::string>& names,
                           const std::vector<std::string>& declared) {
  for (const std::string& name : declared) {
    if (!std::binary_search(names.begin(), names.end(), name)) {
      return Error(absl::StatusCode::kInvalidArgument, "declared output {} was not written",
                   LogValue(name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<v1::FileHeader>> SealOutputs(const fs::path& folder,
                                                        const AttemptKey& id,
                                                        const std::vector<std::string>& declared) {
  const Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && (errno == ELOOP || errno == ENOTDIR)) {
    return absl::InvalidArgumentError("the task replaced its output directory by something else");
  }
  struct stat st{};
  if (!fd.valid() || fstat(fd.get(), &st) != 0) {
    return ErrnoError(errno, folder.native());
  }
  HOUTU_RETURN_IF_ERROR(MakeOwn(fd.get(), st, 0755));
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(fd.get()));
  HOUTU_RETURN_IF_ERROR(CheckDeclared(names, declared));
  std::vector<v1::FileHeader> files;
  for (const std::string& name : names) {
    HOUTU_ASSIGN_OR_RETURN(v1::FileHeader header, SealFile(fd.get(), name, id));
    files.push_back(std::move(header));
  }
  return files;
}

}  // namespace houtu::agent
