// Small values that events, effects and the core's tables share.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "houtu/v1/lease.pb.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// A job manager's session, numbered by the shell; never used twice.
using SessionId = uint64_t;

/// The stage under which a job manager runs as a task of its own lease. Stage names have no "@", so
/// it is never a user's.
inline constexpr std::string_view kManagerStage = "@manager";

inline bool IsManager(const AttemptKey& key) { return key.stage == kManagerStage; }

/// Whether a stage may be called so: the name becomes a folder's, and must lead to no other.
bool IsStageName(std::string_view name);

/// What a container was started with; a task of another shape needs another container.
struct ContainerShape {
  std::string image;
  v1::Network network = v1::NETWORK_NONE;
  auto operator<=>(const ContainerShape&) const = default;
};

/// UNSPECIFIED means none, an empty image the host's.
ContainerShape ShapeOf(const std::string& image, v1::Network network);

/// The newest terms obeyed; older ones are refused, also after a restart.
struct Terms {
  int64_t master = 0;
  /// By job.
  std::map<std::string, int64_t> managers;
  bool operator==(const Terms&) const = default;
};

/// How the preparation and start of an attempt went.
struct LaunchResult {
  enum class Kind {
    kStarted,
    /// The command's program does not exist or can't be executed.
    kNotExecutable,
    /// An input could not be had; `lost` names the partitions.
    kInputLost,
    /// The container went away meanwhile.
    kContainerGone,
    /// The disk or the runtime: never the task's fault.
    kNodeFault,
  };
  Kind kind = Kind::kStarted;
  std::string message;
  std::vector<v1::LostPartition> lost;
  int64_t input_local_bytes = 0;
  /// Bytes read from other nodes, by the datacenter that served them.
  std::map<std::string, int64_t> input_bytes_from;
};

}  // namespace houtu::agent
