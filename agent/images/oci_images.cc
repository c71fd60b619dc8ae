#include "agent/images/oci_images.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "agent/images/faults.h"
#include "agent/images/image_cleanup.h"
#include "agent/images/oci_layout.h"
#include "agent/images/unpack.h"
#include "agent/partitions/files.h"
#include "common/base/resources.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

struct ImageName {
  fs::path path;
  std::string tag;
};

/// A ":" in the last part of the path begins the tag.
ImageName ParseName(std::string_view name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool has_tag =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return {.path = std::string(name.substr(0, has_tag ? colon : name.size())),
          .tag = std::string(has_tag ? name.substr(colon + 1) : std::string_view())};
}

bool IsBelow(const fs::path& path, const fs::path& root) {
  std::error_code error;
  const fs::path real = fs::canonical(root, error);
  if (error) return false;
  return std::mismatch(real.begin(), real.end(), path.begin(), path.end()).first == real.end();
}

/// Only who sees that a file exists may learn whether it does: outside the roots all is the same.
absl::StatusOr<OciLayout> OpenLayout(const fs::path& path, const std::vector<fs::path>& roots) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  const bool inside = !error && path.is_absolute() &&
                      std::any_of(roots.begin(), roots.end(),
                                  [&real](const fs::path& root) { return IsBelow(real, root); });
  if (!inside) {
    return Error(absl::StatusCode::kPermissionDenied, "{} is not below this node's image roots",
                 path.native());
  }
  const fs::file_status status = fs::status(real, error);
  if (fs::is_directory(status)) return OciLayout(real, false);
  if (fs::is_regular_file(status)) return OciLayout(real, true);
  if (!fs::exists(status)) {
    return Error(absl::StatusCode::kNotFound, "no image {}", path.native());
  }
  return Error(absl::StatusCode::kInvalidArgument, "{}: neither a folder nor a file",
               path.native());
}

/// What is on the disk before the rename stays whole after a loss of power.
absl::Status Publish(const fs::path& fresh, const fs::path& kept) {
  const Fd fd(open(fresh.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || syncfs(fd.get()) != 0 || rename(fresh.c_str(), kept.c_str()) != 0) {
    return ErrnoError(errno, fresh.native());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OciImages::Use(std::string_view name,
                            const std::function<absl::Status(const fs::path&)>& use) {
  const ImageName parsed = ParseName(name);
  HOUTU_ASSIGN_OR_RETURN(const OciLayout layout, OpenLayout(parsed.path, options_.image_roots));
  HOUTU_ASSIGN_OR_RETURN(const OciImage image, layout.Find(parsed.tag));
  if (image.layer_bytes > options_.image_bytes_max) {
    return Error(absl::StatusCode::kFailedPrecondition, "its layers have {}, more than {}",
                 DescribeBytes(image.layer_bytes), DescribeBytes(options_.image_bytes_max));
  }
  Clean();
  const std::shared_lock lock(in_use_);
  HOUTU_ASSIGN_OR_RETURN(const fs::path rootfs, Unpacked(layout, image));
  return use(rootfs);
}

/// Not while others unpack: the next call does it.
void OciImages::Clean() {
  const std::unique_lock lock(in_use_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const absl::Status status = RemoveUnusedImages(options_.images_dir, options_.images_max);
  if (!status.ok()) LogWarning("unused images not removed", {{"error", status}});
}

absl::StatusOr<fs::path> OciImages::Unpacked(const OciLayout& layout, const OciImage& image) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return !unpacking_.contains(image.digest); });
  const fs::path kept = options_.images_dir / image.digest;
  NoteImageUse(kept);
  std::error_code ignored;
  if (fs::exists(kept, ignored)) return kept / "rootfs";
  unpacking_.insert(image.digest);
  lock.unlock();
  const absl::Status status = UnpackTo(layout, image, kept);
  lock.lock();
  unpacking_.erase(image.digest);
  done_.notify_all();
  if (!status.ok()) return status;
  return kept / "rootfs";
}

absl::Status OciImages::UnpackTo(const OciLayout& layout, const OciImage& image,
                                 const fs::path& kept) const {
  const absl::Time start = absl::Now();
  fs::path fresh = kept;
  fresh += ".new";
  HOUTU_RETURN_IF_ERROR(NodesFault(RemoveTree(fresh)));
  HOUTU_RETURN_IF_ERROR(NodesFault(MakeFolders(fresh)));
  // Set-user-id programs and files readable by all lie in there, but for root alone.
  if (chmod(options_.images_dir.c_str(), 0700) != 0) {
    return NodesFault(ErrnoError(errno, options_.images_dir.native()));
  }
  absl::Status status = Unpack(layout, image, options_.umoci, options_.unpack_limit, fresh);
  if (status.ok()) status = NodesFault(Publish(fresh, kept));
  if (!status.ok()) {
    RemoveTree(fresh).IgnoreError();
    return Annotate(status, layout.path().native());
  }
  LogInfo("image unpacked", {{"path", layout.path().native()},
                             {"digest", image.digest},
                             {"ms", absl::ToInt64Milliseconds(absl::Now() - start)}});
  return status;
}

}  // namespace houtu::agent
