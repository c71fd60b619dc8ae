// Commands that need no cluster: config validate, version.
#pragma once

#include <string>

#include "client/command/console.h"

namespace houtu::client {

/// The kinds of configuration files: "master", "agent", "jobmanager", "client"; and "job".
inline constexpr const char* kConfigKinds[] = {"master", "agent", "jobmanager", "client", "job"};

/// Checks FILE as a configuration of that kind.
ExitStatus ConfigValidate(const Console& console, const std::string& file, const std::string& kind);

ExitStatus Version(const Console& console);

/// "0.1.0".
std::string VersionText();

}  // namespace houtu::client
