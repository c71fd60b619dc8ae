// From the C client's codes, structs and log lines to ours.
#pragma once

#include <zookeeper/zookeeper.h>

#include <string>

#include "absl/status/status.h"
#include "common/coordination/types.h"

namespace houtu::coordination {

enum class Access { kRead, kWrite };

/// Codes as in coordination.h. `path` is named; a connection lost during a write leaves the outcome
/// unknown.
absl::Status StatusOf(int code, Access access, const std::string& path);

Stat FromClient(const ::Stat& stat);

/// kChanged also for what the client does not explain: whoever watches reads again.
WatchEvent EventOf(int type);

/// The create mode of the C client.
int ModeOf(CreateFlags flags);

/// Receives the C client's log: its errors and warnings as warnings, the rest as debug lines.
void LogClientLine(const char* line);

}  // namespace houtu::coordination
