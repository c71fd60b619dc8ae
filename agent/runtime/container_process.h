// ContainerProcess: which process is a container's first one, so that nobody takes another for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/runtime/lease_folder.h"

namespace houtu::agent {

/// Written to <lease_dir>/run/container once the container runs. A pid is reused; a pid with its
/// start time, in one boot of the machine, is not.
struct ContainerProcess {
  std::string lease_id;
  pid_t pid = 0;
  /// Clock ticks from the machine's boot, /proc/<pid>/stat's field 22.
  int64_t start_ticks = 0;
  std::string boot_id;

  /// Of a process that runs. NOT_FOUND: it does not.
  static absl::StatusOr<ContainerProcess> Of(std::string lease_id, pid_t pid);
  /// NOT_FOUND: no container was started in the folder. DATA_LOSS: the file can't be understood.
  static absl::StatusOr<ContainerProcess> Read(const LeaseFolder& folder);
  absl::Status Write(const LeaseFolder& folder) const;

  /// A pidfd of it; nullopt: it has ended. The caller closes it.
  std::optional<int> Open() const;
  bool Runs() const;

  bool operator==(const ContainerProcess&) const = default;
};

}  // namespace houtu::agent
