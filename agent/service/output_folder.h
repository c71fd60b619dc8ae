// OutputFolder: the folder of a job's result, whole or not at all.
//
//   <parent>/.houtu-<job>/    while it is being written, beside its place
//   <parent>/<name>/          its place: there by one rename
//
// What is at its place already must be an earlier result (folders named by tasks' numbers, or
// nothing): the new one takes its place. Anything else there is somebody's, and kept.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu::agent {

/// For one writing; calls block. Its end deletes what was not published.
class OutputFolder {
 public:
  /// The folder's true path, links followed. PERMISSION_DENIED: `path` is not below one of the
  /// roots, or a link leads out of them.
  static absl::StatusOr<std::filesystem::path> Resolve(const std::vector<std::string>& roots,
                                                       const std::string& path);

  /// `place`: as Resolve says.
  OutputFolder(std::filesystem::path place, const std::string& job)
      : place_(std::move(place)), fresh_(place_.parent_path() / (".houtu-" + job)) {}
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Makes an empty fresh(); what an agent that died left there goes. FAILED_PRECONDITION: the
  /// place is taken by something else than a result. As ErrnoError says.
  absl::Status Begin();

  /// Where to write.
  const std::filesystem::path& fresh() const { return fresh_; }

  /// Brings it to the disk, then to its place. As Begin.
  absl::Status Publish();

 private:
  const std::filesystem::path place_;
  const std::filesystem::path fresh_;
};

}  // namespace houtu::agent
