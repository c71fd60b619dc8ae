// TCP on 127.0.0.1, for tests.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace houtu::testing {

/// A port that was free a moment ago.
absl::StatusOr<int> FreeLoopbackPort();

/// A listening socket on a free port, which `port` is set to.
absl::StatusOr<int> ListenLoopback(int* port);

/// A connected socket with `timeout` for its reads and writes; -1: refused.
int ConnectLoopback(int port, absl::Duration timeout);

}  // namespace houtu::testing
