// LogStream: a task's log as the chunks of one answer, one chunk at a time.
#pragma once

#include <cstdint>
#include <limits>

#include "agent/logs/log_store.h"
#include "agent/service/pulled_stream.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// For one answer; memory of one chunk. Not thread-safe; Next blocks on the disk.
class LogStream {
 public:
  /// A reader that does not follow waits for so many pulls, at most, for a log that is being moved
  /// to its job's.
  static constexpr int kMoveWaitsMax = 10;

  LogStream(const LogStore* logs, v1::ReadLogRequest request);

  /// The next piece; the last has `end` if the attempt has ended, and then may be empty. kWait: the
  /// attempt runs and there is no more yet. NOT_FOUND: no log of it here.
  Pulled<v1::LogChunk> Next();

 private:
  /// There is no more, although the attempt ran just before.
  Pulled<v1::LogChunk> AwaitMore();
  Pulled<v1::LogChunk> Chunk(LogPiece piece, bool end);
  /// Where the wanted last bytes begin.
  void SkipToTail(int64_t total);

  const LogStore* const logs_;
  const v1::ReadLogRequest request_;
  AttemptKey id_;
  int64_t offset_ = 0;
  /// Of a reader that does not follow: where the log ended when it came; a task that writes for
  /// ever must not keep it.
  int64_t until_ = std::numeric_limits<int64_t>::max();
  bool tail_found_ = false;
  bool ended_ = false;
  int move_waits_ = 0;
};

}  // namespace houtu::agent
