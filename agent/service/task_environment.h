// The environment of a task's program.
#pragma once

#include <string>
#include <vector>

#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// NAME=value for each variable, sorted. The user's are given byte for byte; they rule over HOME,
/// PATH and LANG, never over HOUTU_*. `raw_name`: the raw input's file name; empty: none.
std::vector<std::string> TaskEnvironment(const v1::TaskSpec& spec, const std::string& raw_name);

}  // namespace houtu::agent
