// A container's config.json, as the OCI runtime specification 1.0 says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/runtime/container_runtime.h"

namespace houtu::agent {

/// What the configuration needs beyond the container's spec.
struct OciSettings {
  /// houtu-executor on the node.
  std::filesystem::path executor;
  /// linux.cgroupsPath.
  std::string cgroups_path;
  /// Seen empty in the container.
  std::vector<std::filesystem::path> masked_paths;
};

/// Ids that belong to one account.
inline constexpr uint32_t kIdsPerContainer = 65536;

/// The text of config.json: namespaces of its own (the user's too), a read-only root, no
/// capability, no new privileges, a seccomp filter, /houtu and the binds. It sets no process
/// limits (a frozen container could not be restored with them) and no cgroup limits (Cgroups has
/// set them). Pure.
std::string OciConfig(const ContainerSpec& spec, const OciSettings& settings);

}  // namespace houtu::agent
