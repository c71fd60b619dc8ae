#include "agent/service/log_stream.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/partitions/files.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

using LogPull = Pulled<v1::LogChunk>;

}  // namespace

LogStream::LogStream(const LogStore* logs, v1::ReadLogRequest request)
    : logs_(logs),
      request_(std::move(request)),
      id_(KeyOf(request_.id())),
      offset_(std::max<int64_t>(0, request_.offset_bytes())),
      tail_found_(request_.tail_bytes() <= 0) {}

LogPull LogStream::Next() {
  if (ended_) {
    return LogPull::End(absl::OkStatus());
  }
  // Looked for anew each time: at its end the log moves. First whether it lives, then its bytes:
  // what was written before the end is there when the end is told.
  const std::optional<LogStore::Place> place = logs_->Find(id_);
  if (!place) {
    return LogPull::End(Error(absl::StatusCode::kNotFound, "no log of {} here", Describe(id_)));
  }
  id_ = place->id;
  if (place->live && offset_ >= until_) {
    return AwaitMore();
  }
  absl::StatusOr<LogPiece> piece =
      ReadLog(place->paths, offset_, static_cast<int64_t>(kPieceBytes));
  if (absl::IsNotFound(piece.status()) && place->live) {
    return AwaitMore();  // it moves just now, or has not been made yet
  }
  if (!piece.ok()) {
    return LogPull::End(piece.status());
  }
  if (!tail_found_) {
    SkipToTail(piece->total);
    return Next();
  }
  if (!request_.follow()) {
    until_ = std::min(until_, piece->total);
  }
  const bool all = piece->data.empty() ||
                   piece->offset + static_cast<int64_t>(piece->data.size()) >= piece->total;
  if (!piece->data.empty() || !place->live) {
    return Chunk(*std::move(piece), all && !place->live);
  }
  return AwaitMore();
}

LogPull LogStream::AwaitMore() {
  if (request_.follow()) {
    return {.kind = LogPull::Kind::kWait};
  }
  // Its end may have come between the two looks, and with it bytes that were being moved.
  const std::optional<LogStore::Place> now = logs_->Find(id_);
  const bool moves = now && (!now->live || access(now->paths.head.c_str(), F_OK) != 0);
  if (moves && move_waits_++ < kMoveWaitsMax) {
    return {.kind = LogPull::Kind::kWait};
  }
  return LogPull::End(absl::OkStatus());
}

LogPull LogStream::Chunk(LogPiece piece, bool end) {
  LogPull pulled{.kind = LogPull::Kind::kMessage};
  offset_ = piece.offset + static_cast<int64_t>(piece.data.size());
  pulled.message.set_offset_bytes(piece.offset);
  pulled.message.set_dropped_bytes(piece.dropped);
  pulled.message.set_data(std::move(piece.data));
  pulled.message.set_end(end);
  ended_ = end;
  return pulled;
}

void LogStream::SkipToTail(int64_t total) {
  tail_found_ = true;
  offset_ = std::max(offset_, total - request_.tail_bytes());
}

}  // namespace houtu::agent
