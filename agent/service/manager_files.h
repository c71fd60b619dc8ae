// What a job manager needs in its container: program, configuration, token and certificate.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/service/work_paths.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/config.pb.h"

namespace houtu::agent {

/// Lays <task>/manager/ out: houtu-jobmanager (a hard link), config.yaml, token, ca.pem,
/// certificate.pem, key.pem, readable by the container's user 0 (`uid_base`) alone. As ErrnoError
/// says.
absl::Status LayOutManager(const v1::AgentConfig& config, const WorkPaths& paths,
                           const v1::StartLease& lease, const AttemptKey& key, uint32_t uid_base);

/// Program and arguments, as the container sees them.
std::vector<std::string> ManagerCommand(const AttemptKey& key);

/// The configuration as YAML; `folder`: where the files are in the container.
std::string ManagerConfigYaml(const v1::AgentConfig& config, const v1::Lease& lease,
                              const std::string& folder);

/// Copies the program into the work folder, from where it can be hard-linked. As ErrnoError says.
absl::Status StoreManagerProgram(const std::filesystem::path& program, const WorkPaths& paths);

}  // namespace houtu::agent
