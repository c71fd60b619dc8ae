// OutputWriter: a job's result, written to a folder that the job names.
//
//   <path>/<task>/<name>      below one of the node's output_roots
//   <path>/.houtu-<job>/      while it is being written; then each task's folder is renamed
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/partitions/partition_store.h"
#include "agent/partitions/remote_files.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// Owner: main. Thread-safe; calls block.
class OutputWriter {
 public:
  struct Options {
    std::string datacenter;
    std::string node;
    std::vector<std::string> roots;
  };
  OutputWriter(Options options, const PartitionStore* store, RemoteFiles* remote)
      : options_(std::move(options)), store_(store), remote_(remote) {}

  /// The bytes written. A task's folder appears whole or not at all; one that is there is replaced,
  /// so the same request may come again. PERMISSION_DENIED: not below an output root, or by a link;
  /// NOT_FOUND: a partition is gone; others: the disk, another node.
  absl::StatusOr<int64_t> Write(const v1::WriteOutputRequest& request) const;

 private:
  absl::Status CheckPath(const std::filesystem::path& path) const;
  absl::StatusOr<int64_t> Collect(const v1::WriteOutputRequest& request,
                                  const std::filesystem::path& fresh) const;
  absl::StatusOr<int64_t> CopyLocal(const std::string& job, const v1::PartitionSource& source,
                                    const std::filesystem::path& fresh) const;

  const Options options_;
  const PartitionStore* const store_;
  RemoteFiles* const remote_;
};

}  // namespace houtu::agent
