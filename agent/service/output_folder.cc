#include "agent/service/output_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_join.h"
#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

bool IsBelow(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

bool IsTaskNumber(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

enum class Taken { kNo, kEmpty, kByResult };

/// What is at the place; an error where it is none of a job's.
absl::StatusOr<Taken> TakenBy(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place, error);
  if (status.type() == fs::file_type::not_found) {
    return Taken::kNo;
  }
  Taken taken = Taken::kEmpty;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    std::error_code unreadable;
    if (!IsTaskNumber(name) || !it->is_directory(unreadable) || it->is_symlink(unreadable)) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "{} holds {}, which is no job's result: empty it or name another path",
                   LogValue(place.native()), LogValue(name));
    }
    taken = Taken::kByResult;
  }
  if (error) {
    return ErrnoError(error.value(), place.native());
  }
  return taken;
}

/// Brings all of the file system that was written so far to the disk: once for a job's result, for
/// which no lineage is there any more to make it anew.
absl::Status SyncAll(const fs::path& folder) {
  const Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.valid() && syncfs(fd.get()) == 0 ? absl::OkStatus()
                                             : ErrnoError(errno, folder.native());
}

}  // namespace

absl::StatusOr<fs::path> OutputFolder::Resolve(const std::vector<std::string>& roots,
                                               const std::string& path) {
  fs::path named = fs::path(path).lexically_normal();
  if (!named.has_filename()) {
    named = named.parent_path();  // "/data/out/words/"
  }
  std::error_code error;
  fs::path real = fs::weakly_canonical(named, error);
  for (const std::string& root : roots) {
    std::error_code root_error;
    const fs::path real_root = fs::weakly_canonical(root, root_error);
    if (!error && !root_error && IsBelow(named, fs::path(root).lexically_normal()) &&
        IsBelow(real, real_root)) {
      return real;
    }
  }
  return Error(absl::StatusCode::kPermissionDenied,
               "output path {} is not below the node's output_roots ({}), or a link leads out of "
               "them",
               LogValue(path), absl::StrJoin(roots, ", "));
}

OutputFolder::~OutputFolder() {
  // What can't be deleted now goes when the job's result is written again.
  RemoveTree(fresh_).IgnoreError();
}

absl::Status OutputFolder::Begin() {
  HOUTU_RETURN_IF_ERROR(TakenBy(place_).status());
  HOUTU_RETURN_IF_ERROR(RemoveTree(fresh_));
  return MakeFolders(fresh_);
}

absl::Status OutputFolder::Publish() {
  HOUTU_RETURN_IF_ERROR(SyncAll(fresh_));
  HOUTU_ASSIGN_OR_RETURN(const Taken taken, TakenBy(place_));
  // An earlier result goes to where the new one was, and is deleted with it.
  const unsigned int flags = taken == Taken::kByResult ? RENAME_EXCHANGE : 0;
  if (renameat2(AT_FDCWD, fresh_.c_str(), AT_FDCWD, place_.c_str(), flags) != 0) {
    return ErrnoError(errno, place_.native());
  }
  return SyncAll(place_.parent_path());
}

}  // namespace houtu::agent
