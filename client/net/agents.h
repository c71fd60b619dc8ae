// Agents: the client's streams from agents: logs and partitions.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/net/interrupt.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu {
class ChannelPool;
}

namespace houtu::client {

/// Error codes of both: those of the service, and
///   UNAVAILABLE  the agent can't be reached, or its stream broke
///   DEADLINE_EXCEEDED  nothing arrived for kIdleMax
///   CANCELLED    interrupted
/// Owner: the command. Thread-safe.
class Agents {
 public:
  /// An agent that sends nothing for this long (of a stream that does not follow) is given up.
  static constexpr absl::Duration kIdleMax = absl::Seconds(30);

  /// `channels` and `interrupt` outlive it.
  Agents(ChannelPool* channels, Interrupt* interrupt)
      : channels_(channels), interrupt_(interrupt) {}

  /// Calls `on_chunk` with each piece; an error from it ends the stream and is returned.
  absl::Status ReadLog(const std::string& address, const v1::ReadLogRequest& request,
                       const std::function<absl::Status(const v1::LogChunk&)>& on_chunk);
  /// As ReadLog.
  absl::Status FetchPartitions(const std::string& address,
                               const v1::FetchPartitionsRequest& request,
                               const std::function<absl::Status(const v1::FileChunk&)>& on_chunk);

 private:
  ChannelPool* const channels_;
  Interrupt* const interrupt_;
};

}  // namespace houtu::client
