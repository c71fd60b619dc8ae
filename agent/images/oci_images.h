// OciImages: images of the node's disk, unpacked once for each content.
//
//   oci:/images/app.tar:v1 --(a layout folder or the same as a .tar)--> digest of the manifest
//   <images_dir>/<digest>/rootfs        unpacked, read-only from then on; shared by leases
//   <images_dir>/<digest>.new           being unpacked; left by a death, thrown away
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/images/oci_layout.h"

namespace houtu::agent {

/// Owner: ImageRootfs. Thread-safe; calls block while an image is unpacked.
class OciImages {
 public:
  struct Options {
    /// <work>/images; made if absent. One agent's alone.
    std::filesystem::path images_dir;
    /// Folders below which images may lie; links are followed and must stay inside.
    std::vector<std::filesystem::path> image_roots;
    /// A path, or a name looked up in PATH.
    std::string umoci = "umoci";
    /// The layers' size as they lie in the image (compressed).
    int64_t image_bytes_max = int64_t{16} << 30;
    /// Unpacked images kept; more stay only while they are in use.
    int images_max = 32;
    /// For one image's unpacking.
    absl::Duration unpack_limit = absl::Minutes(5);
  };
  explicit OciImages(Options options) : options_(std::move(options)) {}

  /// Calls `use` with the unpacked root file system of PATH[:TAG]; the image stays while `use`
  /// runs, and after it while it is part of something mounted. Errors as ImageRootfs::Prepare, or
  /// as `use`.
  absl::Status Use(std::string_view name,
                   const std::function<absl::Status(const std::filesystem::path&)>& use);

 private:
  absl::StatusOr<std::filesystem::path> Unpacked(const OciLayout& layout, const OciImage& image);
  void Clean();
  absl::Status UnpackTo(const OciLayout& layout, const OciImage& image,
                        const std::filesystem::path& kept) const;

  Options options_;
  /// Shared while an image is unpacked and mounted, exclusive while unused ones are deleted.
  std::shared_mutex in_use_;
  std::mutex mutex_;
  std::condition_variable done_;
  /// Digests that some call is unpacking.
  std::set<std::string> unpacking_;
};

}  // namespace houtu::agent
