#include "agent/images/overlay_root.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "agent/runtime/lease_folder.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// In memory, because that can be an overlay's upper layer whatever file system the work folder is
/// on. It holds mount points and two small files.
constexpr char kLayerOptions[] = "size=1m,mode=755";
constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
constexpr const char* kMountPoints[] = {"proc", "dev", "tmp"};
constexpr const char* kNameFiles[] = {"resolv.conf", "hosts"};
constexpr size_t kNameFileBytesMax = 64 << 10;

absl::Status MakeFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrnoError(errno, folder.native());
}

/// In a mount option "," ends the option, ":" a layer.
std::string Escaped(const fs::path& path) {
  std::string text;
  for (const char c : path.native()) {
    if (c == ',' || c == ':' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

/// An image without these, or with a link in their place (to a folder of /run, which is not in the
/// image), gets the node's.
absl::Status AddNameFiles(const fs::path& image, const fs::path& upper) {
  std::error_code ignored;
  const fs::file_status etc = fs::symlink_status(image / "etc", ignored);
  if (fs::exists(etc) && !fs::is_directory(etc)) return absl::OkStatus();
  for (const char* name : kNameFiles) {
    if (fs::is_regular_file(fs::symlink_status(image / "etc" / name, ignored))) continue;
    const fs::path source = fs::canonical(fs::path("/etc") / name, ignored);
    const absl::StatusOr<std::string> text = ReadSmallFile(source, kNameFileBytesMax);
    if (!text.ok()) continue;
    HOUTU_RETURN_IF_ERROR(MakeFolder(upper / "etc"));
    HOUTU_RETURN_IF_ERROR(WriteWholeFile(upper / "etc" / name, *text));
  }
  return absl::OkStatus();
}

absl::Status AddMountPoints(const fs::path& upper) {
  for (const char* name : kMountPoints) HOUTU_RETURN_IF_ERROR(MakeFolder(upper / name));
  const auto below = [&upper](const char* path) { return upper / (path + 1); };
  HOUTU_RETURN_IF_ERROR(MakeFolder(below(kContainerIo)));
  return WriteWholeFile(below(kContainerExecutor), "");
}

/// Also what is in use: it goes when its last user goes.
absl::Status Unmount(const fs::path& folder) {
  while (umount2(folder.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
  }
  if (errno == EINVAL || errno == ENOENT) return absl::OkStatus();
  return ErrnoError(errno, "unmount of " + folder.native());
}

/// Never deletes a tree: what is still mounted there must not be emptied.
absl::Status RemoveEmpty(const fs::path& folder) {
  if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoError(errno, folder.native());
}

}  // namespace

absl::Status OverlayRoot::Mount(const fs::path& image) const {
  HOUTU_RETURN_IF_ERROR(Release());
  const absl::Status status = MountLayers(image);
  // Its own error would hide the first one; Release is called again before the folder is used.
  if (!status.ok()) Release().IgnoreError();
  return status;
}

absl::Status OverlayRoot::MountLayers(const fs::path& image) const {
  for (const fs::path& folder : {dir_, layer(), root()}) HOUTU_RETURN_IF_ERROR(MakeFolder(folder));
  if (mount("tmpfs", layer().c_str(), "tmpfs", kFlags, kLayerOptions) != 0) {
    return ErrnoError(errno, "mount of a tmpfs at " + layer().native());
  }
  const fs::path upper = layer() / "upper";
  const fs::path work = layer() / "work";
  HOUTU_RETURN_IF_ERROR(MakeFolder(upper));
  HOUTU_RETURN_IF_ERROR(MakeFolder(work));
  HOUTU_RETURN_IF_ERROR(AddMountPoints(upper));
  HOUTU_RETURN_IF_ERROR(AddNameFiles(image, upper));
  const std::string options = fmt::format("lowerdir={},upperdir={},workdir={}", Escaped(image),
                                          Escaped(upper), Escaped(work));
  if (mount("overlay", root().c_str(), "overlay", kFlags, options.c_str()) != 0) {
    return ErrnoError(errno, "mount of an overlay at " + root().native());
  }
  return absl::OkStatus();
}

absl::Status OverlayRoot::Release() const {
  HOUTU_RETURN_IF_ERROR(Unmount(root()));
  HOUTU_RETURN_IF_ERROR(Unmount(layer()));
  HOUTU_RETURN_IF_ERROR(RemoveEmpty(root()));
  HOUTU_RETURN_IF_ERROR(RemoveEmpty(layer()));
  return RemoveEmpty(dir_);
}

}  // namespace houtu::agent
