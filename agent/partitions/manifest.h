// Manifest: the list of an attempt's committed files with sizes and checksums, kept beside them.
#pragma once

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// Output names never start with a dot, so no output is called so.
inline constexpr char kManifestName[] = ".manifest";

/// Writes the manifest into the folder. Not synced to the disk: see PartitionStore. As ErrnoError
/// says.
absl::Status WriteManifest(const std::filesystem::path& folder,
                           const std::vector<v1::FileHeader>& files);

/// Reads it; none where the folder has none (an attempt without outputs). NOT_FOUND: no such
/// folder; DATA_LOSS: it can't be understood.
absl::StatusOr<std::vector<v1::FileHeader>> ReadManifest(const std::filesystem::path& folder);

}  // namespace houtu::agent
