// RemoteFiles: other agents' partitions and raw inputs, as streams. The service implements it with
// gRPC; tests with files of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// Takes the chunks of a stream in order; an error ends the stream and becomes its status.
using ChunkSink = std::function<absl::Status(const v1::FileChunk&)>;

/// Thread-safe; calls block until the stream's end.
class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;

  /// One stream for all of the request's partitions. NOT_FOUND: `lost` names those that are not
  /// there (empty: unknown which). UNAVAILABLE: try again.
  virtual absl::Status FetchPartitions(const std::string& address,
                                       const v1::FetchPartitionsRequest& request,
                                       const ChunkSink& sink,
                                       std::vector<v1::PartitionRef>* lost) = 0;

  /// NOT_FOUND, PERMISSION_DENIED (residency), UNAVAILABLE: try again.
  virtual absl::Status FetchInput(const std::string& address, const v1::FetchInputRequest& request,
                                  const ChunkSink& sink) = 0;
};

}  // namespace houtu::agent
