// DataRoots: the folders whose files jobs may name. A path or a symbolic link that leads out of
// them is refused by the kernel (openat2, RESOLVE_BENEATH), so no check can be raced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/partitions/files.h"
#include "houtu/v1/job_master_service.pb.h"

namespace houtu::agent {

/// Most files that one input may match on a node.
inline constexpr int kInputFilesMax = 100'000;

/// Thread-safe: it holds nothing but paths.
class DataRoots {
 public:
  explicit DataRoots(std::vector<std::string> roots);

  /// Whether the path is below a root, as it is written.
  bool Covers(const std::string& path) const { return Find(path).ok(); }

  /// A regular file, open for reading. NOT_FOUND; PERMISSION_DENIED: not below a root, or a link
  /// leads out of it; FAILED_PRECONDITION: no regular file.
  absl::StatusOr<Fd> Open(const std::string& path) const;

  /// Expands a path whose names may hold *, ? and [...]: the regular files that match, sorted by
  /// path; none is no error. Names that start with a dot match only a pattern that does. Bytes of
  /// names are kept as they are (C10). PERMISSION_DENIED as Open; RESOURCE_EXHAUSTED: more than
  /// kInputFilesMax; INVALID_ARGUMENT: a matching name is not UTF-8.
  absl::StatusOr<v1::InputFiles> List(const std::string& path) const;

 private:
  struct Place {
    const std::string* root;
    /// The path's part below the root.
    std::string rest;
  };

  absl::StatusOr<Place> Find(const std::string& path) const;

  std::vector<std::string> roots_;
};

}  // namespace houtu::agent
