// The agent's configuration with its defaults, and what it makes of a machine.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "houtu/v1/config.pb.h"
#include "houtu/v1/node.pb.h"

namespace houtu::agent {

/// Fills in what the file leaves out. INVALID_ARGUMENT: values that contradict each other, with the
/// key.
absl::StatusOr<v1::AgentConfig> CompleteConfig(v1::AgentConfig config);

/// What registers with the master.
v1::Node NodeOf(const v1::AgentConfig& config, const std::map<std::string, std::string>& features);

}  // namespace houtu::agent
