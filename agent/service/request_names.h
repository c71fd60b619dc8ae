// The names in other processes' requests that become folders here.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace houtu::agent {

/// NOT_FOUND: `job` has no job id's form, so nothing of it is anywhere; INVALID_ARGUMENT: `stage`
/// is no folder's name. What passes leads to no other job's folder.
absl::Status CheckNames(const std::string& job, const std::string& stage);

}  // namespace houtu::agent
