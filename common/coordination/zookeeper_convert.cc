#include "common/coordination/zookeeper_convert.h"

#include <optional>
#include <string_view>

#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/log/line_budget.h"
#include "common/log/log.h"

namespace houtu::coordination {
namespace {

/// Warnings of the client library that are logged; the rest are for debugging.
constexpr int kClientWarningsPerSecond = 2;

absl::StatusCode CodeOf(int code, Access access) {
  switch (code) {
    case ZNONODE:
      return absl::StatusCode::kNotFound;
    case ZNODEEXISTS:
      return absl::StatusCode::kAlreadyExists;
    case ZBADVERSION:
      return absl::StatusCode::kAborted;
    case ZNOTEMPTY:
    case ZNOCHILDRENFOREPHEMERALS:
      return absl::StatusCode::kFailedPrecondition;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
      return access == Access::kWrite ? absl::StatusCode::kDeadlineExceeded
                                      : absl::StatusCode::kUnavailable;
    // In these cases a server, or the client before it sent anything, said that it did nothing.
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZCLOSING:
    case ZINVALIDSTATE:
    case ZNOTREADONLY:
    case ZTHROTTLEDOP:
      return absl::StatusCode::kUnavailable;
    case ZNOAUTH:
    case ZAUTHFAILED:
    case ZINVALIDACL:
      return absl::StatusCode::kPermissionDenied;
    case ZBADARGUMENTS:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status StatusOf(int code, Access access, const std::string& path) {
  if (code == ZOK) return absl::OkStatus();
  const absl::StatusCode status_code = CodeOf(code, access);
  if (status_code == absl::StatusCode::kDeadlineExceeded) {
    return Error(status_code, "{}: the connection broke before the answer: outcome unknown", path);
  }
  if (code == ZINVALIDSTATE) {
    return Error(status_code, "{}: no connection to ZooKeeper, nothing was sent", path);
  }
  return Error(status_code, "{}: {}", path, zerror(code));
}

Stat FromClient(const ::Stat& stat) {
  return Stat{.version = stat.version,
              .cversion = stat.cversion,
              .czxid = stat.czxid,
              .mzxid = stat.mzxid,
              .pzxid = stat.pzxid,
              .ephemeral_owner = stat.ephemeralOwner,
              .num_children = stat.numChildren};
}

WatchEvent EventOf(int type) {
  if (type == ZOO_CREATED_EVENT) return WatchEvent::kCreated;
  if (type == ZOO_DELETED_EVENT) return WatchEvent::kDeleted;
  if (type == ZOO_CHILD_EVENT) return WatchEvent::kChildren;
  return WatchEvent::kChanged;
}

int ModeOf(CreateFlags flags) {
  if (flags.ephemeral) return flags.sequential ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_EPHEMERAL;
  return flags.sequential ? ZOO_PERSISTENT_SEQUENTIAL : ZOO_PERSISTENT;
}

// A line reads "<date>:<pid>(<thread>):ZOO_WARN@<function>@<line>: <text>".
void LogClientLine(const char* line) {
  const std::string_view text(line);
  const bool serious =
      text.find(":ZOO_ERROR@") != text.npos || text.find(":ZOO_WARN@") != text.npos;
  const size_t begin = text.find(":ZOO_");
  const std::string_view says = begin == text.npos ? text : text.substr(begin + 1);
  // While the servers are away it tells every try of every server.
  static auto* const kBudget = new LineBudget(kClientWarningsPerSecond);
  const std::optional<int> held_back = serious ? kBudget->Take(absl::Now()) : std::nullopt;
  if (held_back.has_value()) {
    LogWarning("zookeeper client", {{"says", says}, {"lines_held_back", *held_back}});
  } else {
    LogDebug("zookeeper client", {{"says", says}});
  }
}

}  // namespace houtu::coordination
