// LogStream: a task's log as the chunks of one answer, one chunk at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/logs/log_store.h"
#include "agent/service/pulled_stream.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// For one answer. Not thread-safe; Next blocks on the disk.
class LogStream {
 public:
  LogStream(const LogStore* logs, v1::ReadLogRequest request);

  /// The next piece; the last has `end` if the attempt has ended. NOT_FOUND: no log of it here.
  Pulled<v1::LogChunk> Next();

 private:
  Pulled<v1::LogChunk> Chunk(LogPiece piece, bool end);
  /// Where the wanted last bytes begin.
  void SkipToTail(int64_t total);

  const LogStore* const logs_;
  const v1::ReadLogRequest request_;
  AttemptKey id_;
  int64_t offset_ = 0;
  bool tail_found_ = false;
  bool ended_ = false;
};

}  // namespace houtu::agent
