// PartitionStream: partitions of this node as the chunks of one answer, one chunk at a time.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/partitions/partition_store.h"
#include "agent/service/file_stream.h"
#include "houtu/v1/partition_service.pb.h"

namespace houtu::agent {

/// For one answer; memory of one chunk and of one attempt's list of files. Not thread-safe; Next
/// blocks on the disk.
class PartitionStream {
 public:
  PartitionStream(const PartitionStore* store, v1::FetchPartitionsRequest request)
      : store_(store), request_(std::move(request)) {}

  /// The next chunk; nullopt: that was all. NOT_FOUND: partitions are not here, or damaged, and
  /// lost() names them: before the first chunk all that are missing, later the one that went
  /// meanwhile. Others as ErrnoError says.
  absl::StatusOr<std::optional<v1::FileChunk>> Next();

  /// As the details of the call's end, for the reader, who has them made anew.
  const v1::FetchPartitionsRequest& lost() const { return lost_; }

 private:
  /// So that no byte is sent in vain where the reader needs all.
  absl::Status LookForAll();
  absl::StatusOr<std::vector<FileStream::Entry>> FilesOf(const v1::PartitionRef& ref) const;
  /// What `status` means for the partition that is being sent.
  absl::Status Lose(const absl::Status& status);
  AttemptKey KeyOf(const v1::PartitionRef& ref) const;

  const PartitionStore* const store_;
  const v1::FetchPartitionsRequest request_;
  bool looked_ = false;
  int next_ = 0;
  FileStream files_{{}};
  v1::FetchPartitionsRequest lost_;
};

}  // namespace houtu::agent
