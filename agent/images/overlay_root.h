// OverlayRoot: a lease's root file system: an image with what every container needs laid over it.
#pragma once

#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// Names of files, no more: the mounts lie below <lease_dir>/image, which is all that must be known
/// to undo them. One call at a time for one lease.
class OverlayRoot {
 public:
  explicit OverlayRoot(const std::filesystem::path& lease_dir) : dir_(lease_dir / "image") {}

  std::filesystem::path root() const { return dir_ / "root"; }

  /// Mounts `image` (never written to) with mount points and, where it has none of its own, the
  /// node's resolv.conf and hosts over it; root() is it. No device or set-user-id bit of the image
  /// counts. As ErrnoError says; nothing is left mounted then.
  absl::Status Mount(const std::filesystem::path& image) const;

  /// OK if nothing is mounted. As ErrnoError says.
  absl::Status Release() const;

 private:
  absl::Status MountLayers(const std::filesystem::path& image) const;
  std::filesystem::path layer() const { return dir_ / "layer"; }

  std::filesystem::path dir_;
};

}  // namespace houtu::agent
