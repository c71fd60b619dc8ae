#include "agent/executor/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace houtu::agent {
namespace {

constexpr int kCreateFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

LogWriter::~LogWriter() {
  if (head_fd_ >= 0) close(head_fd_);
  if (ring_fd_ >= 0) close(ring_fd_);
}

int LogWriter::Open(int folder_fd, int64_t bytes_max) {
  folder_fd_ = folder_fd;
  header_.head_max = LogHeadMax(bytes_max);
  header_.ring = LogRingMax(bytes_max);
  header_.total = header_.claimed = header_.head_max;
  unlinkat(folder_fd, kLogRingName, 0);
  head_fd_ = openat(folder_fd, kLogHeadName, kCreateFlags, 0644);
  return head_fd_ >= 0 ? 0 : errno;
}

void LogWriter::Append(std::string_view bytes) {
  if (error_number_ == 0) bytes = AppendHead(bytes);
  if (error_number_ != 0 || bytes.empty()) return;
  if (ring_fd_ < 0) OpenRing();
  if (error_number_ == 0) AppendRing(bytes);
}

std::string_view LogWriter::AppendHead(std::string_view bytes) {
  const size_t fits = std::min<uint64_t>(bytes.size(), header_.head_max - head_written_);
  if (fits > 0) {
    WriteAt(head_fd_, bytes.substr(0, fits), head_written_);
    head_written_ += fits;
  }
  return bytes.substr(fits);
}

void LogWriter::OpenRing() {
  ring_fd_ = openat(folder_fd_, kLogRingName, kCreateFlags, 0644);
  if (ring_fd_ < 0) {
    error_number_ = errno;
    return;
  }
  WriteHeader();
}

void LogWriter::AppendRing(std::string_view bytes) {
  header_.claimed = header_.total + bytes.size();
  WriteHeader();
  while (!bytes.empty() && error_number_ == 0) {
    const uint64_t place = (header_.total - header_.head_max) % header_.ring;
    const size_t fits = std::min<uint64_t>(bytes.size(), header_.ring - place);
    WriteAt(ring_fd_, bytes.substr(0, fits), kRingHeaderBytes + place);
    header_.total += fits;
    bytes.remove_prefix(fits);
  }
  WriteHeader();
}

void LogWriter::WriteAt(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty() && error_number_ == 0) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    } else if (errno != EINTR) {
      error_number_ = errno;
    }
  }
}

void LogWriter::WriteHeader() {
  WriteAt(ring_fd_, {reinterpret_cast<const char*>(&header_), sizeof(header_)}, 0);
}

}  // namespace houtu::agent
