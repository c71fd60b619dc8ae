// GrpcRemoteFiles: other agents' partitions and raw inputs, over gRPC.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/partitions/remote_files.h"

namespace houtu {
class ChannelPool;
class EventLoop;
}  // namespace houtu

namespace houtu::agent {

/// Owner: main. A stream on which nothing moves for kIdleMax is UNAVAILABLE.
class GrpcRemoteFiles final : public RemoteFiles {
 public:
  static constexpr absl::Duration kIdleMax = absl::Seconds(20);

  /// `loop` watches over streams that stand still.
  GrpcRemoteFiles(ChannelPool* channels, EventLoop* loop) : channels_(channels), loop_(loop) {}

  absl::Status FetchPartitions(const std::string& address,
                               const v1::FetchPartitionsRequest& request, const ChunkSink& sink,
                               std::vector<v1::PartitionRef>* lost) override;
  absl::Status FetchInput(const std::string& address, const v1::FetchInputRequest& request,
                          const ChunkSink& sink) override;

 private:
  ChannelPool* const channels_;
  EventLoop* const loop_;
};

}  // namespace houtu::agent
