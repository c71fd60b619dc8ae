#include "agent/runtime/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/status.h"

namespace houtu::agent {
namespace {

absl::Status WriteOnce(const std::filesystem::path& path, int flags, std::string_view text) {
  const int fd = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return ErrnoError(errno, path.native());
  ssize_t n;
  // A cgroup's control file may answer so, with nothing done, while any work for the thread waits.
  while ((n = write(fd, text.data(), text.size())) < 0 && errno == EINTR) {
  }
  const int error_number = n < 0 ? errno : ENOSPC;
  close(fd);
  if (n == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  return ErrnoError(error_number, path.native());
}

constexpr size_t kReadPieceBytes = 4096;

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::filesystem::path& path, size_t bytes_max) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return ErrnoError(errno, path.native());
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return Error(absl::StatusCode::kFailedPrecondition, "{}: not a regular file", path.native());
  }
  // Most are a line: no buffer of the largest size is made for each.
  std::string text;
  char piece[kReadPieceBytes];
  ssize_t n = 1;
  while (text.size() < bytes_max && n > 0) {
    n = read(fd, piece, std::min(sizeof(piece), bytes_max - text.size()));
    if (n > 0) text.append(piece, static_cast<size_t>(n));
  }
  const int error_number = errno;
  close(fd);
  if (n < 0) return ErrnoError(error_number, path.native());
  return text;
}

absl::Status WriteControlFile(const std::filesystem::path& path, std::string_view text) {
  return WriteOnce(path, 0, text);
}

absl::Status WriteWholeFile(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path fresh = path;
  fresh += ".new";
  HOUTU_RETURN_IF_ERROR(WriteOnce(fresh, O_CREAT | O_TRUNC, text));
  if (rename(fresh.c_str(), path.c_str()) != 0) return ErrnoError(errno, path.native());
  return absl::OkStatus();
}

}  // namespace houtu::agent
