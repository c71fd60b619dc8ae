// Session: the client's configuration and its connections, made when a command needs the cluster.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/command/console.h"
#include "client/net/agents.h"
#include "client/net/interrupt.h"
#include "client/net/masters.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/config.pb.h"

namespace houtu::client {

struct ConnectOptions {
  /// --config; empty: searched.
  std::string config;
  /// --connect-timeout.
  absl::Duration timeout = absl::Seconds(10);
};

/// The configuration's file: `given`, $HOUTU_CONFIG, ~/.config/houtu/config.yaml or
/// /etc/houtu/client.yaml, the first that is named or there. INVALID_ARGUMENT: none.
absl::StatusOr<std::string> FindConfig(const std::string& given);

/// Owner: the command. Connects lazily.
class Session {
 public:
  /// Null where the configuration can't be used: the console was told why, and the exit status is
  /// kBadUsage. `interrupt` outlives it.
  static std::unique_ptr<Session> Open(const Console& console, const ConnectOptions& options,
                                       Interrupt* interrupt);

  Masters& masters() { return masters_; }
  Agents& agents() { return agents_; }
  Interrupt& interrupt() { return *interrupt_; }

 private:
  Session(const TlsMaterial& tls, Masters::Options options, Interrupt* interrupt);

  Interrupt* const interrupt_;
  ChannelPool channels_;
  Masters masters_;
  Agents agents_;
};

}  // namespace houtu::client
