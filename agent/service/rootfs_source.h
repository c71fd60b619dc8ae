// RootfsSource: where a container's root file system comes from (agent/images).
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// Thread-safe for different leases; calls block.
class RootfsSource {
 public:
  virtual ~RootfsSource() = default;

  /// Lays the image out for the lease's container. NOT_FOUND, INVALID_ARGUMENT, PERMISSION_DENIED,
  /// FAILED_PRECONDITION: the image's fault; others the node's.
  virtual absl::StatusOr<std::filesystem::path> Prepare(const std::string& image,
                                                        const std::filesystem::path& lease_dir) = 0;

  /// The lease's container is gone: what Prepare mounted for it may go. OK if nothing.
  virtual absl::Status Release(const std::filesystem::path& lease_dir) = 0;
};

}  // namespace houtu::agent
