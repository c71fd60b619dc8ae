#include "agent/images/rootfs.h"

#include <string_view>

#include "agent/images/faults.h"
#include "agent/images/overlay_root.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr std::string_view kHost = "host";
constexpr std::string_view kOciPrefix = "oci:";

}  // namespace

absl::StatusOr<std::filesystem::path> ImageRootfs::Prepare(const std::string& image,
                                                           const std::filesystem::path& lease_dir) {
  const OverlayRoot overlay(lease_dir);
  const auto mount = [&overlay](const std::filesystem::path& lower) {
    return NodesFault(overlay.Mount(lower));
  };
  if (image == kHost) {
    HOUTU_RETURN_IF_ERROR(mount("/"));
  } else if (image.starts_with(kOciPrefix)) {
    HOUTU_RETURN_IF_ERROR(images_.Use(std::string_view(image).substr(kOciPrefix.size()), mount));
  } else {
    return Error(absl::StatusCode::kInvalidArgument,
                 "\"{}\": an image is \"host\" or \"oci:PATH[:TAG]\"", image);
  }
  return overlay.root();
}

absl::Status ImageRootfs::Release(const std::filesystem::path& lease_dir) {
  return OverlayRoot(lease_dir).Release();
}

}  // namespace houtu::agent
