// Outputs: the check of what a task wrote, and its becoming the agent's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// Checks every entry of `folder` (already out of the container's reach) and makes the folder and
/// its files the agent's own, read-only. Returns the files with size and checksum, sorted by name.
/// INVALID_ARGUMENT: an entry that is no plain file, a name that starts with a dot (kept for
/// temporary files) or is not UTF-8, more than kOutputFilesMax, or "declared output NAME was not
/// written". Others as ErrnoError says.
absl::StatusOr<std::vector<v1::FileHeader>> SealOutputs(const std::filesystem::path& folder,
                                                        const AttemptKey& id,
                                                        const std::vector<std::string>& declared);

}  // namespace houtu::agent
