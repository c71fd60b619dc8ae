// FileReceiver: writes the files of one stream to a folder and checks sizes and checksums.
//
//   <folder>/<task>/<name>   each file of FetchPartitions
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/partitions/files.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// For one stream; memory of one chunk. Not thread-safe.
class FileReceiver {
 public:
  explicit FileReceiver(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// DATA_LOSS: size or checksum are not what the header says; INVALID_ARGUMENT: not a stream of
  /// files; others as ErrnoError says: this node's disk.
  absl::Status Take(const v1::FileChunk& chunk);
  /// The stream ended well: DATA_LOSS if in the middle of a file.
  absl::Status End() const;

  int64_t bytes() const { return bytes_; }
  /// Names of the files received, by task.
  const std::map<int, std::vector<std::string>>& files() const { return files_; }
  /// The file that is, or was last, being received.
  const v1::FileHeader& current() const { return header_; }

 private:
  absl::Status Begin(const v1::FileHeader& header);
  absl::Status Finish();

  std::filesystem::path folder_;
  std::map<int, std::vector<std::string>> files_;
  int64_t bytes_ = 0;
  v1::FileHeader header_;
  Fd fd_;
  int64_t received_ = 0;
  std::optional<Sha256Sum> sum_;
};

}  // namespace houtu::agent
