// LogWriter: a task's output on disk, its head and its end (log_format.h). Owner: the task. Blocks
// only in the disk.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/executor/log_format.h"

namespace houtu::agent {

class LogWriter {
 public:
  LogWriter() = default;
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Makes log.head in the folder. Returns 0 or the errno.
  int Open(int folder_fd, int64_t bytes_max);

  /// Adds output. After a failed write (a full disk) the rest of the log is given up,
  /// error_number() says why; the task itself goes on.
  void Append(std::string_view bytes);

  int error_number() const { return error_number_; }

 private:
  std::string_view AppendHead(std::string_view bytes);
  void OpenRing();
  void AppendRing(std::string_view bytes);
  void WriteAt(int fd, std::string_view bytes, uint64_t offset);
  void WriteHeader();

  int folder_fd_ = -1;
  int head_fd_ = -1;
  int ring_fd_ = -1;
  uint64_t head_written_ = 0;
  LogRingHeader header_;
  int error_number_ = 0;
};

}  // namespace houtu::agent
