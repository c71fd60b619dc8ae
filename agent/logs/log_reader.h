// Reads one task's log as houtu-executor writes it (agent/executor/log_format.h): its start, a gap
// where the middle was dropped, its end; also while it is being written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace houtu::agent {

/// The two files of a log.
struct LogPaths {
  std::filesystem::path head;
  std::filesystem::path ring;
};

struct LogPiece {
  /// Position of data's first byte in all that the task wrote.
  int64_t offset = 0;
  std::string data;
  /// Bytes before `offset`, from the one asked for, that are gone.
  int64_t dropped = 0;
  /// Bytes that the task wrote so far.
  int64_t total = 0;
};

/// At most `bytes_max` bytes from `offset` on; empty data: there is no more yet. The files belong
/// to the task, so nothing they say is believed unchecked; a spoilt ring reads as a log of its head
/// alone. NOT_FOUND: no such log; others as ErrnoError says.
absl::StatusOr<LogPiece> ReadLog(const LogPaths& paths, int64_t offset, int64_t bytes_max);

/// The last line that is not blank, at most 400 bytes, control characters escaped; empty: none.
std::string LastLogLine(const LogPaths& paths);

}  // namespace houtu::agent
