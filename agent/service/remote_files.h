// GrpcRemoteFiles: other agents' partitions and raw inputs, over gRPC.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/partitions/remote_files.h"

namespace houtu {
class ChannelPool;
}  // namespace houtu

namespace houtu::agent {

/// Owner: main. Memory of one chunk per call. The sink checks sizes and checksums (FileReceiver).
class GrpcRemoteFiles final : public RemoteFiles {
 public:
  /// A stream on which nothing arrives for so long is UNAVAILABLE. It may last as long as it moves.
  static constexpr absl::Duration kIdleMax = absl::Seconds(20);

  explicit GrpcRemoteFiles(ChannelPool* channels, absl::Duration idle_max = kIdleMax)
      : channels_(channels), idle_max_(idle_max) {}

  absl::Status FetchPartitions(const std::string& address,
                               const v1::FetchPartitionsRequest& request, const ChunkSink& sink,
                               std::vector<v1::PartitionRef>* lost) override;
  absl::Status FetchInput(const std::string& address, const v1::FetchInputRequest& request,
                          const ChunkSink& sink) override;

 private:
  ChannelPool* const channels_;
  const absl::Duration idle_max_;
};

}  // namespace houtu::agent
