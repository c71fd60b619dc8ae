#include "agent/service/partition_stream.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {

absl::StatusOr<std::optional<v1::FileChunk>> PartitionStream::Next() {
  if (!std::exchange(looked_, true)) {
    HOUTU_RETURN_IF_ERROR(LookForAll());
  }
  while (files_.done()) {
    if (next_ == request_.partitions_size()) {
      return std::nullopt;
    }
    absl::StatusOr<std::vector<FileStream::Entry>> files = FilesOf(request_.partitions(next_++));
    if (!files.ok()) {
      return Lose(files.status());
    }
    files_ = FileStream(*std::move(files));
  }
  absl::StatusOr<v1::FileChunk> chunk = files_.Next();
  if (!chunk.ok()) {
    return Lose(chunk.status());
  }
  return *std::move(chunk);
}

absl::Status PartitionStream::LookForAll() {
  absl::Status first;
  for (const v1::PartitionRef& ref : request_.partitions()) {
    // A name that is no file's is found to be none of the attempt's by FilesOf: not looked for, or
    // it would tell what else is on the disk.
    const bool plain = ref.name().find('/') == std::string::npos;
    const std::filesystem::path folder = store_->FolderOf(KeyOf(ref));
    const std::filesystem::path path = plain ? folder / ref.name() : folder;
    if (access(path.c_str(), F_OK) != 0) {
      first.Update(ErrnoError(errno, path.native()));
      *lost_.add_partitions() = ref;
    }
  }
  return lost_.partitions_size() == 0 ? absl::OkStatus() : absl::NotFoundError(Message(first));
}

absl::StatusOr<std::vector<FileStream::Entry>> PartitionStream::FilesOf(
    const v1::PartitionRef& ref) const {
  const AttemptKey id = KeyOf(ref);
  HOUTU_ASSIGN_OR_RETURN(std::vector<v1::FileHeader> files, store_->List(id));
  std::vector<FileStream::Entry> entries;
  for (v1::FileHeader& file : files) {
    if (ref.name().empty() || ref.name() == file.name()) {
      auto open = [store = store_, id, name = file.name()] { return store->Open(id, name); };
      entries.push_back({.header = std::move(file), .open = std::move(open)});
    }
  }
  if (entries.empty() && !ref.name().empty()) {
    return Error(absl::StatusCode::kNotFound, "{} left no file {}", Describe(id),
                 LogValue(ref.name()));
  }
  return entries;
}

absl::Status PartitionStream::Lose(const absl::Status& status) {
  if (!absl::IsNotFound(status) && !absl::IsDataLoss(status)) {
    return status;
  }
  *lost_.add_partitions() = request_.partitions(next_ - 1);
  return absl::NotFoundError(Message(status));
}

AttemptKey PartitionStream::KeyOf(const v1::PartitionRef& ref) const {
  return {.job = request_.job(),
          .stage = request_.stage(),
          .task = ref.task(),
          .attempt = ref.attempt()};
}

}  // namespace houtu::agent
