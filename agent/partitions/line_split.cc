#include "agent/partitions/line_split.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "agent/partitions/files.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

/// The position behind the first line end at or after `from`; `size` where there is none.
absl::StatusOr<int64_t> BehindLineEnd(int fd, int64_t from, int64_t size) {
  std::string piece(64 << 10, '\0');
  while (from < size) {
    const ssize_t n = pread(fd, piece.data(), piece.size(), from);
    if (n < 0 && errno != EINTR) {
      return ErrnoError(errno, "read");
    }
    if (n == 0) {
      return size;
    }
    if (n > 0) {
      if (const void* found = std::memchr(piece.data(), '\n', static_cast<size_t>(n))) {
        return from + (static_cast<const char*>(found) - piece.data()) + 1;
      }
      from += n;
    }
  }
  return size;
}

}  // namespace

absl::StatusOr<FilePiece> LinesOf(int fd, int64_t offset, int64_t length) {
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return ErrnoError(errno, "stat");
  }
  const int64_t size = st.st_size;
  const int64_t from = std::clamp<int64_t>(offset, 0, size);
  const int64_t to = from + std::clamp<int64_t>(length, 0, size - from);
  FilePiece piece;
  if (from > 0) {
    HOUTU_ASSIGN_OR_RETURN(piece.begin, BehindLineEnd(fd, from - 1, size));
  }
  if (to > 0) {
    HOUTU_ASSIGN_OR_RETURN(piece.end, BehindLineEnd(fd, to - 1, size));
  }
  return piece;
}

}  // namespace houtu::agent
