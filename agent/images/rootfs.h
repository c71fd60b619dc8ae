// ImageRootfs: root file systems of leases, by the image's name: "host" is the node's own system,
// "oci:PATH[:TAG]" an OCI image of the node's disk.
//
//   <lease_dir>/image/layer/            a small tmpfs of the lease's own:
//     upper/ work/                      mount points, resolv.conf: what an image may lack
//   <lease_dir>/image/root/             overlay of upper/ on the image; the container's root
//
// All that Release needs is the lease's folder, so an agent that has started anew releases what the
// last one mounted.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "agent/images/oci_images.h"
#include "agent/service/rootfs_source.h"

namespace houtu::agent {

/// Owner: the agent's main. Thread-safe for different leases; calls block.
class ImageRootfs : public RootfsSource {
 public:
  explicit ImageRootfs(OciImages::Options options) : images_(std::move(options)) {}

  /// The mounted root. As RootfsSource says: INVALID_ARGUMENT: the name is none, or the image is
  /// broken. NOT_FOUND: no such image or tag. PERMISSION_DENIED: outside the image roots.
  /// FAILED_PRECONDITION: larger than may be. INTERNAL: the node can't mount.
  absl::StatusOr<std::filesystem::path> Prepare(const std::string& image,
                                                const std::filesystem::path& lease_dir) override;
  absl::Status Release(const std::filesystem::path& lease_dir) override;

 private:
  OciImages images_;
};

}  // namespace houtu::agent
