#include "agent/partitions/data_roots.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

Fd OpenBelow(const std::string& root, const std::string& rest, int flags) {
  const Fd folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) {
    return {};
  }
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const std::string path = rest.empty() ? "." : rest;
  return Fd(static_cast<int>(syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof(how))));
}

absl::Status OpenError(int error_number, const std::string& path) {
  if (error_number == EXDEV || error_number == ELOOP) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "{}: a link in it leads out of the node's data_roots", LogValue(path));
  }
  return ErrnoError(error_number, LogValue(path));
}

bool HasWildcard(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// Walks the pattern's parts, folder by folder.
class Expansion {
 public:
  Expansion(const std::string& root, std::vector<std::string> parts)
      : root_(root), prefix_(root == "/" ? root : root + "/"), parts_(std::move(parts)) {}

  absl::Status Walk(const std::string& below, size_t part) {
    if (part == parts_.size()) {
      return Take(below);
    }
    if (!HasWildcard(parts_[part])) {
      return Walk(Join(below, parts_[part]), part + 1);
    }
    const int pattern_flags = FNM_PERIOD | FNM_NOESCAPE;
    for (const std::string& name : Names(below)) {
      if (fnmatch(parts_[part].c_str(), name.c_str(), pattern_flags) == 0) {
        HOUTU_RETURN_IF_ERROR(Walk(Join(below, name), part + 1));
      }
    }
    return absl::OkStatus();
  }

  v1::InputFiles Files() {
    std::sort(files_.mutable_files()->begin(), files_.mutable_files()->end(),
              [](const auto& a, const auto& b) { return a.path() < b.path(); });
    return std::move(files_);
  }

 private:
  static std::string Join(const std::string& below, const std::string& name) {
    return below.empty() ? name : below + "/" + name;
  }

  /// Of a folder that can't be read: none.
  std::vector<std::string> Names(const std::string& below) {
    Fd fd = OpenBelow(root_, below, O_RDONLY | O_DIRECTORY);
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(fd.valid() ? fdopendir(dup(fd.get())) : nullptr,
                                                  &closedir);
    std::vector<std::string> names;
    while (dir != nullptr) {
      const dirent* entry = readdir(dir.get());
      if (entry == nullptr) {
        break;
      }
      const std::string name = entry->d_name;
      if (name != "." && name != "..") {
        names.push_back(name);
      }
    }
    return names;
  }

  absl::Status Take(const std::string& below) {
    const Fd fd = OpenBelow(root_, below, O_RDONLY | O_NONBLOCK);
    struct stat st;
    if (!fd.valid() && errno != ENOENT && errno != ENOTDIR && errno != ENXIO) {
      return OpenError(errno, prefix_ + below);
    }
    if (!fd.valid() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) {
      return absl::OkStatus();
    }
    const std::string path = prefix_ + below;
    if (!IsUtf8(path)) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: the file's name is not UTF-8",
                   LogValue(path));
    }
    if (files_.files_size() == kInputFilesMax) {
      return Error(absl::StatusCode::kResourceExhausted,
                   "more than {} files match, the limit of one input", kInputFilesMax);
    }
    v1::InputFile& file = *files_.add_files();
    file.set_path(path);
    file.set_size_bytes(st.st_size);
    file.set_modified_at_ms(int64_t{st.st_mtim.tv_sec} * 1000 + st.st_mtim.tv_nsec / 1'000'000);
    return absl::OkStatus();
  }

  const std::string& root_;
  const std::string prefix_;
  const std::vector<std::string> parts_;
  v1::InputFiles files_;
};

}  // namespace

DataRoots::DataRoots(std::vector<std::string> roots) : roots_(std::move(roots)) {
  for (std::string& root : roots_) {
    while (root.size() > 1 && root.back() == '/') {
      root.pop_back();
    }
  }
}

absl::StatusOr<DataRoots::Place> DataRoots::Find(const std::string& path) const {
  for (const std::string& root : roots_) {
    if (root == "/" && path.starts_with('/')) {
      return Place{&root, path.substr(1)};
    }
    if (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/') {
      return Place{&root, path.substr(root.size() + 1)};
    }
  }
  return Error(absl::StatusCode::kPermissionDenied, "{} is not below the node's data_roots ({})",
               LogValue(path), absl::StrJoin(roots_, ", "));
}

absl::StatusOr<Fd> DataRoots::Open(const std::string& path) const {
  HOUTU_ASSIGN_OR_RETURN(const Place place, Find(path));
  Fd fd = OpenBelow(*place.root, place.rest, O_RDONLY | O_NONBLOCK);
  if (!fd.valid()) {
    return OpenError(errno, path);
  }
  struct stat st;
  if (fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return Error(absl::StatusCode::kFailedPrecondition, "{}: not a regular file", LogValue(path));
  }
  return fd;
}

absl::StatusOr<v1::InputFiles> DataRoots::List(const std::string& path) const {
  HOUTU_ASSIGN_OR_RETURN(const Place place, Find(path));
  Expansion expansion(*place.root, absl::StrSplit(place.rest, '/', absl::SkipEmpty()));
  HOUTU_RETURN_IF_ERROR(expansion.Walk("", 0));
  return expansion.Files();
}

}  // namespace houtu::agent
