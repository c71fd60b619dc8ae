#include "agent/images/unpack.h"

#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "agent/images/faults.h"
#include "agent/partitions/files.h"
#include "agent/runtime/small_file.h"
#include "agent/runtime/subprocess.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kTag[] = "image";
constexpr char kRefName[] = "org.opencontainers.image.ref.name";
constexpr char kLayoutVersion[] = R"({"imageLayoutVersion":"1.0.0"})";
/// Stands before umoci's errors, between lines of its progress.
constexpr std::string_view kErrorMark = "\u2a2f ";
constexpr std::string_view kDiskFull = "no space left on device";

/// What umoci marks as an error, or another tool's first line.
std::string FirstError(std::string_view said) {
  const size_t mark = said.find(kErrorMark);
  if (mark != std::string_view::npos) said.remove_prefix(mark + kErrorMark.size());
  const std::string_view line = said.substr(0, said.find('\n'));
  return std::string(line.substr(0, line.find_last_not_of(' ') + 1));
}

absl::Status RunTool(std::vector<std::string> argv, absl::Duration limit) {
  const std::string tool = argv[0];
  const absl::StatusOr<ProgramResult> result =
      RunProgram({.argv = std::move(argv), .deadline = limit});
  if (absl::IsDeadlineExceeded(result.status())) {
    return Error(absl::StatusCode::kFailedPrecondition, "not unpacked within unpack_limit of {}",
                 absl::FormatDuration(limit));
  }
  if (!result.ok()) return absl::InternalError(result.status().message());
  if (result->exit_status == 0) return absl::OkStatus();
  const std::string& said = result->errors.empty() ? result->output : result->errors;
  const bool disk_full = said.find(kDiskFull) != std::string::npos;
  return Error(
      disk_full ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInvalidArgument,
      "{}: {}", fs::path(tool).filename().native(), FirstError(said));
}

/// A layout of ours with the one image, over the blobs of theirs: a tag that is moved meanwhile, or
/// an image without any, makes no difference.
absl::Status MakeLayout(const OciLayout& layout, const OciImage& image, absl::Duration limit,
                        const fs::path& own) {
  HOUTU_RETURN_IF_ERROR(NodesFault(MakeFolders(own)));
  if (layout.is_archive()) {
    HOUTU_RETURN_IF_ERROR(RunTool({"tar", "--extract", "--no-same-owner", "--file",
                                   layout.path().native(), "--directory", own.native()},
                                  limit));
  } else {
    std::error_code error;
    fs::create_directory_symlink(layout.path() / "blobs", own / "blobs", error);
    if (error) return NodesFault(ErrnoError(error.value(), own.native()));
  }
  nlohmann::json descriptor = nlohmann::json::parse(image.descriptor);
  descriptor["annotations"] = {{kRefName, kTag}};
  const nlohmann::json index = {{"schemaVersion", 2},
                                {"manifests", nlohmann::json::array({descriptor})}};
  HOUTU_RETURN_IF_ERROR(NodesFault(WriteWholeFile(own / "oci-layout", kLayoutVersion)));
  return NodesFault(WriteWholeFile(own / "index.json", index.dump()));
}

/// Gives everybody the owner's right to read and execute. The files belong to the node's root, whom
/// no container has as a user; shared by accounts of different ids, they can't be given to one.
absl::Status OpenToAll(const fs::path& tree) {
  std::error_code error;
  const auto open = [](const fs::path& path) {
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) return false;
    if (S_ISLNK(info.st_mode)) return true;
    const mode_t owners = info.st_mode & (S_IRUSR | S_IXUSR);
    return chmod(path.c_str(), (info.st_mode & 07777) | owners >> 3 | owners >> 6) == 0;
  };
  if (!open(tree)) return ErrnoError(errno, tree.native());
  for (fs::recursive_directory_iterator it(tree, error), end; it != end; it.increment(error)) {
    if (!open(it->path())) return ErrnoError(errno, it->path().native());
  }
  return error ? ErrnoError(error.value(), tree.native()) : absl::OkStatus();
}

}  // namespace

absl::Status Unpack(const OciLayout& layout, const OciImage& image, const std::string& umoci,
                    absl::Duration limit, const fs::path& folder) {
  const fs::path own = folder / "layout";
  const fs::path rootfs = folder / "rootfs";
  HOUTU_RETURN_IF_ERROR(MakeLayout(layout, image, limit, own));
  HOUTU_RETURN_IF_ERROR(RunTool(
      {umoci, "raw", "unpack", "--image", own.native() + ":" + std::string(kTag), rootfs.native()},
      limit));
  HOUTU_RETURN_IF_ERROR(NodesFault(OpenToAll(rootfs)));
  return NodesFault(RemoveTree(own));
}

}  // namespace houtu::agent
