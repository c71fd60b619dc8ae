// OciLayout: reads an OCI image layout (a folder, or the same as a .tar) as far as naming an image
// in it needs. What it reads was written by a user: everything has a limit, nothing is believed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// An index, a manifest: more is refused.
inline constexpr size_t kOciJsonBytesMax = 4 << 20;
inline constexpr int kOciLayersMax = 512;
/// An index may name an index.
inline constexpr int kOciIndexDepthMax = 4;

/// One image of a layout.
struct OciImage {
  /// SHA-256 of the manifest, 64 lower-case hexadecimal digits.
  std::string digest;
  /// The manifest's descriptor, as JSON: what an index.json needs to name it.
  std::string descriptor;
  /// Sum of the layers as they lie in the layout.
  int64_t layer_bytes = 0;
};

/// Stateless; calls read the disk.
class OciLayout {
 public:
  /// `path`: a folder or a regular file (an archive).
  OciLayout(std::filesystem::path path, bool is_archive)
      : path_(std::move(path)), is_archive_(is_archive) {}

  const std::filesystem::path& path() const { return path_; }
  bool is_archive() const { return is_archive_; }

  /// The image with that tag, for this processor where there are several. Empty: the only one there
  /// is, or "latest". NOT_FOUND: no such tag. INVALID_ARGUMENT: no layout, or a broken one.
  absl::StatusOr<OciImage> Find(const std::string& tag) const;

  /// A file of the layout, by its name in there. NOT_FOUND; INVALID_ARGUMENT: larger than
  /// kOciJsonBytesMax.
  absl::StatusOr<std::string> Read(const std::string& name) const;

 private:
  std::filesystem::path path_;
  bool is_archive_;
};

}  // namespace houtu::agent
