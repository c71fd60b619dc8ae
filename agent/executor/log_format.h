// How a task's log lies on disk: written by houtu-executor, read by the agent, without a lock.
//
// Of a log with limit L the first L/2 bytes stay in `log.head`, the last L/2 in `log.ring`; what
// was between them is gone. A log of at most L/2 bytes is log.head alone. Byte n (from 0) of the
// task's output, stdout and stderr as they came:
//   n < head_max                       log.head at offset n
//   n >= head_max, n >= total - ring   log.ring at offset kRingHeaderBytes + (n - head_max) % ring
//   else                               dropped
// with head_max = LogHeadMax(L), ring = LogRingMax(L); both stand in the ring's header, so that a
// reader needs no other file.
//
//   log.ring:  [ magic u64 | head_max u64 | ring u64 | total u64 | claimed u64 ][ ring bytes ... ]
//              little endian                               kRingHeaderBytes ^
//
// A reader while the task runs: the writer first raises `claimed` to what `total` will be, then
// writes the bytes, then raises `total`. Read `total`, copy the bytes wanted, then read `claimed`
// again: bytes n < claimed - ring may have been overwritten meanwhile; throw these away (they are
// dropped by now). Without log.ring, total is log.head's size.
//
// The files lie in the task's own folder and belong to the container's user 0, so a task can spoil
// its own log: a reader opens them with O_NOFOLLOW | O_NONBLOCK, takes regular files alone, and
// believes no number without LogIndexIsSane.
#pragma once

#include <cstddef>
#include <cstdint>

namespace houtu::agent {

inline constexpr char kLogHeadName[] = "log.head";
inline constexpr char kLogRingName[] = "log.ring";
/// "houtulog" as a little-endian number.
inline constexpr uint64_t kLogRingMagic = 0x676f6c7574756f68;

/// The ring file's header.
struct LogRingHeader {
  uint64_t magic = kLogRingMagic;
  /// Bytes of output that went into log.head before the ring began.
  uint64_t head_max = 0;
  /// Bytes that the ring holds.
  uint64_t ring = 0;
  /// Bytes of output whose place is written, from the log's very start.
  uint64_t total = 0;
  /// What total will be after the write under way; equals total when there is none.
  uint64_t claimed = 0;
};
inline constexpr size_t kRingHeaderBytes = sizeof(LogRingHeader);
static_assert(kRingHeaderBytes == 40);

/// The least limit, whatever was asked for.
inline constexpr int64_t kLogBytesMin = 4096;

constexpr uint64_t LogHeadMax(int64_t limit) {
  return static_cast<uint64_t>(limit < kLogBytesMin ? kLogBytesMin : limit) / 2;
}
constexpr uint64_t LogRingMax(int64_t limit) { return LogHeadMax(limit); }

constexpr bool LogIndexIsSane(const LogRingHeader& header, uint64_t head_file_bytes) {
  return header.magic == kLogRingMagic && header.ring > 0 && header.head_max == head_file_bytes &&
         header.total >= header.head_max && header.claimed >= header.total &&
         header.claimed - header.total <= header.ring;
}

/// Bytes lost in the middle: [head_max, head_max + dropped).
constexpr uint64_t LogDroppedBytes(const LogRingHeader& header) {
  const uint64_t after_head = header.total - header.head_max;
  return after_head > header.ring ? after_head - header.ring : 0;
}

/// Offset in log.ring of byte `n` of the output; n >= head_max.
constexpr uint64_t LogRingOffset(const LogRingHeader& header, uint64_t n) {
  return kRingHeaderBytes + (n - header.head_max) % header.ring;
}

}  // namespace houtu::agent
