// FileStream: files of this node's disk as the chunks of one answer, one chunk at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/partitions/files.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// For one answer. Not thread-safe; Next blocks on the disk.
class FileStream {
 public:
  struct Entry {
    v1::FileHeader header;
    std::function<absl::StatusOr<Fd>()> open;
    /// First byte to send; header.size_bytes follow.
    int64_t begin = 0;
  };
  explicit FileStream(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  bool done() const { return next_ == entries_.size(); }

  /// The next chunk: at most kPieceBytes of data. Precondition: !done(). DATA_LOSS: the file is
  /// shorter than it should be; as Entry::open; as ErrnoError says.
  absl::StatusOr<v1::FileChunk> Next();

 private:
  std::vector<Entry> entries_;
  size_t next_ = 0;
  Fd fd_;
  int64_t sent_ = 0;
};

}  // namespace houtu::agent
