#include "client/outputs/output_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "client/text/safe_text.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

/// Opens the folder `name` of `parent`, made where it is missing. A link is not followed: it could
/// lead out of the folder that the user named.
absl::StatusOr<OwnedFd> OpenFolder(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoError(errno, "can't make the folder " + SafeLine(name));
  }
  OwnedFd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() >= 0) {
    return folder;
  }
  if (errno == ELOOP || errno == ENOTDIR) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{} is a link or no folder; move it away or name another --to", SafeLine(name));
  }
  return ErrnoError(errno, "can't open the folder " + SafeLine(name));
}

/// Unique among the process's threads and the machine's processes. Stage names hold no "~".
std::string TemporaryName() {
  static std::atomic<int> next = 0;
  return fmt::format(".houtu~{}-{}", ::getpid(), next++);
}

absl::StatusOr<OwnedFd> Duplicate(const OwnedFd& fd) {
  OwnedFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) {
    return ErrnoError(errno, "can't open another file");
  }
  return copy;
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  OwnedFd old(Release());
  fd_ = other.Release();
  return *this;
}

int OwnedFd::Release() { return std::exchange(fd_, -1); }

absl::Status CheckFileName(std::string_view name) {
  const bool good = !name.empty() && name != "." && name != ".." && name.size() <= NAME_MAX &&
                    name.find('/') == name.npos && name.find('\0') == name.npos;
  return good ? absl::OkStatus()
              : Error(absl::StatusCode::kInvalidArgument, "\"{}\" is no file's name",
                      SafeLine(name));
}

absl::StatusOr<OutputFolder> OutputFolder::Open(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoError(errno, "can't make the folder " + SafeLine(path));
  }
  OwnedFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) {
    return ErrnoError(errno, "can't open the folder " + SafeLine(path));
  }
  return OutputFolder(std::move(root));
}

absl::StatusOr<PendingFile> OutputFolder::Begin(const v1::OutputFile& file) const {
  HOUTU_RETURN_IF_ERROR(CheckFileName(file.stage()));
  HOUTU_RETURN_IF_ERROR(CheckFileName(file.name()));
  PendingFile pending;
  HOUTU_ASSIGN_OR_RETURN(const OwnedFd stage, OpenFolder(root_.get(), file.stage()));
  HOUTU_ASSIGN_OR_RETURN(pending.folder_, OpenFolder(stage.get(), fmt::format("{}", file.task())));
  HOUTU_ASSIGN_OR_RETURN(pending.root_, Duplicate(root_));
  const std::string temporary = TemporaryName();
  pending.file_ = OwnedFd(::openat(root_.get(), temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (pending.file_.get() < 0) {
    return ErrnoError(errno, "can't make a file");
  }
  pending.temporary_ = temporary;
  pending.name_ = file.name();
  return pending;
}

PendingFile::~PendingFile() {
  if (!temporary_.empty() && root_.get() >= 0) {
    ::unlinkat(root_.get(), temporary_.c_str(), 0);
  }
}

absl::Status PendingFile::Write(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(file_.get(), data.data(), data.size());
    if (written < 0 && errno != EINTR) {
      return ErrnoError(errno, "can't write " + SafeLine(name_));
    }
    data.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status PendingFile::Commit() {
  if (::fdatasync(file_.get()) != 0) {
    return ErrnoError(errno, "can't write " + SafeLine(name_));
  }
  if (::renameat(root_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) {
    return ErrnoError(errno, "can't put " + SafeLine(name_) + " into its place");
  }
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace houtu::client
