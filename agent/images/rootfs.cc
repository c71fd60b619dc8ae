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
  std::filesystem::path lower = "/";
  if (image.starts_with(kOciPrefix)) {
    HOUTU_ASSIGN_OR_RETURN(lower,
                           images_.Unpacked(std::string_view(image).substr(kOciPrefix.size())));
  } else if (image != kHost) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "\"{}\": an image is \"host\" or \"oci:PATH[:TAG]\"", image);
  }
  const OverlayRoot overlay(lease_dir);
  HOUTU_RETURN_IF_ERROR(NodesFault(overlay.Mount(lower)));
  return overlay.root();
}

absl::Status ImageRootfs::Release(const std::filesystem::path& lease_dir) {
  return OverlayRoot(lease_dir).Release();
}

}  // namespace houtu::agent
