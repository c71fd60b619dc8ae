#include "agent/images/image_cleanup.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// An image's digest is in no other's name, so its name in the mount table tells its use.
std::string MountTable() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Longest unused first.
std::vector<std::pair<fs::file_time_type, fs::path>> ByUse(const fs::path& images_dir) {
  std::vector<std::pair<fs::file_time_type, fs::path>> images;
  std::error_code ignored;
  for (fs::directory_iterator it(images_dir, ignored), end; it != end; it.increment(ignored)) {
    images.emplace_back(fs::last_write_time(it->path(), ignored), it->path());
  }
  std::sort(images.begin(), images.end());
  return images;
}

}  // namespace

absl::Status RemoveUnusedImages(const fs::path& images_dir, int images_max) {
  const auto images = ByUse(images_dir);
  const std::string mounts = MountTable();
  auto left = static_cast<int>(images.size());
  for (const auto& [time, image] : images) {
    if (left <= images_max) break;
    if (mounts.find(image.filename().native()) != std::string::npos) continue;
    // First out of its name: a death halfway must leave no half of an image under it.
    fs::path doomed = image;
    doomed.replace_extension(".new");
    if (doomed != image && rename(image.c_str(), doomed.c_str()) != 0) {
      return ErrnoError(errno, image.native());
    }
    HOUTU_RETURN_IF_ERROR(RemoveTree(doomed));
    LogInfo("unused image removed", {{"digest", image.filename().native()}});
    --left;
  }
  return absl::OkStatus();
}

void NoteImageUse(const fs::path& image) {
  // Without the note it only goes sooner.
  [[maybe_unused]] const int result = utimensat(AT_FDCWD, image.c_str(), nullptr, 0);
}

}  // namespace houtu::agent
