// OutputWriter: a job's result, written to a folder that the job names.
//
//   <path>/<task>/<name>      below one of the node's output_roots
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/partitions/partition_store.h"
#include "agent/partitions/remote_files.h"
#include "agent/partitions/stream_retry.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// Owner: main. Thread-safe; calls block.
class OutputWriter {
 public:
  struct Options {
    std::string datacenter;
    std::string node;
    std::vector<std::string> roots;
    StreamRetry retry;
  };
  OutputWriter(Options options, const PartitionStore* store, RemoteFiles* remote)
      : options_(std::move(options)), store_(store), remote_(remote) {}

  /// The bytes written, or the partitions that are gone, damaged, or on a node that stays away. The
  /// folder appears whole or not at all, checked against the checksums that its files were
  /// committed with; an earlier result there is replaced, so the same request may come again. Gives
  /// up soon after `cancelled` says so (ABORTED).
  /// PERMISSION_DENIED: not below an output root; FAILED_PRECONDITION: something else than a
  /// result is there; others as ErrnoError says: the disk.
  absl::StatusOr<v1::WriteOutputResponse> Write(const v1::WriteOutputRequest& request,
                                                const std::function<bool()>& cancelled) const;

 private:
  /// Waits until no other call writes the job's result.
  class Turn;

  /// Ends with the first source that lost something.
  absl::StatusOr<v1::WriteOutputResponse> Collect(const v1::WriteOutputRequest& request,
                                                  const std::filesystem::path& fresh,
                                                  const std::function<bool()>& cancelled) const;
  /// All of a source's partitions into `fresh`, from this node or another.
  absl::StatusOr<v1::WriteOutputResponse> Bring(const std::string& job,
                                                const v1::PartitionSource& source,
                                                const std::filesystem::path& fresh,
                                                const std::function<bool()>& cancelled) const;
  absl::Status Stream(const v1::PartitionSource& source, const v1::FetchPartitionsRequest& request,
                      const ChunkSink& sink, std::vector<v1::PartitionRef>* lost) const;

  const Options options_;
  const PartitionStore* const store_;
  RemoteFiles* const remote_;
  mutable std::mutex mutex_;
  mutable std::condition_variable turn_over_;
  mutable std::set<std::string> writing_;  // jobs
};

}  // namespace houtu::agent
