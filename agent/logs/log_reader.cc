#include "agent/logs/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/executor/log_format.h"
#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

constexpr int64_t kLastLineBytes = 400;

/// An open regular file with its size; invalid: not there, or something else.
struct LogFile {
  Fd fd;
  int64_t size = 0;
};

LogFile OpenLogFile(const std::filesystem::path& path) {
  LogFile file{.fd = Fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))};
  struct stat st;
  if (file.fd.valid() && fstat(file.fd.get(), &st) == 0 && S_ISREG(st.st_mode)) {
    file.size = st.st_size;
    return file;
  }
  const int error_number = file.fd.valid() ? EINVAL : errno;
  file.fd = Fd();
  errno = error_number;
  return file;
}

/// What could be read of [at, at + bytes).
std::string ReadAt(int fd, int64_t at, int64_t bytes) {
  std::string data(static_cast<size_t>(bytes), '\0');
  size_t got = 0;
  while (got < data.size()) {
    const ssize_t n = pread(fd, data.data() + got, data.size() - got, at + static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      break;
    }
    got += static_cast<size_t>(n);
  }
  data.resize(got);
  return data;
}

std::optional<LogRingHeader> ReadHeader(int fd, int64_t head_bytes) {
  LogRingHeader header;
  if (pread(fd, &header, sizeof(header), 0) != static_cast<ssize_t>(sizeof(header)) ||
      !LogIndexIsSane(header, static_cast<uint64_t>(head_bytes))) {
    return std::nullopt;
  }
  return header;
}

/// The first byte of the ring that no write, the one under way included, has taken.
int64_t OldestIn(const LogRingHeader& header) {
  const uint64_t in_ring = header.claimed - header.head_max;
  return static_cast<int64_t>(header.head_max +
                              (in_ring > header.ring ? in_ring - header.ring : 0));
}

std::string ReadRing(int fd, const LogRingHeader& header, int64_t offset, int64_t bytes) {
  const int64_t at = static_cast<int64_t>(LogRingOffset(header, static_cast<uint64_t>(offset)));
  const int64_t ring_end = static_cast<int64_t>(kRingHeaderBytes + header.ring);
  const int64_t first = std::min(bytes, ring_end - at);
  std::string data = ReadAt(fd, at, first);
  if (first < bytes) {
    data += ReadAt(fd, kRingHeaderBytes, bytes - first);
  }
  return data;
}

/// Drops what the writer overwrote while it was read.
void DropOverwritten(int64_t oldest, LogPiece* piece) {
  if (oldest <= piece->offset) {
    return;
  }
  const int64_t lost = oldest - piece->offset;
  piece->data.erase(
      0, static_cast<size_t>(std::min<int64_t>(lost, static_cast<int64_t>(piece->data.size()))));
  piece->dropped += lost;
  piece->offset = oldest;
}

}  // namespace

absl::StatusOr<LogPiece> ReadLog(const LogPaths& paths, int64_t offset, int64_t bytes_max) {
  const LogFile head = OpenLogFile(paths.head);
  if (!head.fd.valid()) {
    return ErrnoError(errno, paths.head.native());
  }
  const LogFile ring = OpenLogFile(paths.ring);
  const std::optional<LogRingHeader> header =
      ring.fd.valid() ? ReadHeader(ring.fd.get(), head.size) : std::nullopt;
  LogPiece piece{.offset = std::max<int64_t>(offset, 0),
                 .total = header ? static_cast<int64_t>(header->total) : head.size};
  if (piece.offset < head.size) {
    piece.data = ReadAt(head.fd.get(), piece.offset, std::min(bytes_max, head.size - piece.offset));
    return piece;
  }
  if (!header) {
    return piece;
  }
  DropOverwritten(OldestIn(*header), &piece);
  const int64_t bytes = std::min(bytes_max, piece.total - piece.offset);
  if (bytes <= 0) {
    return piece;
  }
  piece.data = ReadRing(ring.fd.get(), *header, piece.offset, bytes);
  if (const auto after = ReadHeader(ring.fd.get(), head.size)) {
    DropOverwritten(OldestIn(*after), &piece);
  }
  return piece;
}

std::string LastLogLine(const LogPaths& paths) {
  const absl::StatusOr<LogPiece> size = ReadLog(paths, 0, 0);
  if (!size.ok()) {
    return "";
  }
  const absl::StatusOr<LogPiece> end = ReadLog(paths, size->total - kLastLineBytes, kLastLineBytes);
  if (!end.ok()) {
    return "";
  }
  std::string text = end->data;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  text.erase(0, text.rfind('\n') + 1);
  return text.empty() ? "" : LogValue(text);
}

}  // namespace houtu::agent
