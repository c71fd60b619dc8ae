#include "agent/service/output_writer.h"

#include <cstdio>
#include <system_error>

#include "agent/partitions/file_receiver.h"
#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

bool IsBelow(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

/// Puts each folder of `fresh` into its place in `path`.
absl::Status Publish(const fs::path& fresh, const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator it(fresh, error), end; !error && it != end; it.increment(error)) {
    const fs::path target = path / it->path().filename();
    HOUTU_RETURN_IF_ERROR(RemoveTree(target));
    if (std::rename(it->path().c_str(), target.c_str()) != 0) {
      return ErrnoError(errno, target.native());
    }
  }
  return error ? ErrnoError(error.value(), fresh.native()) : RemoveTree(fresh);
}

}  // namespace

absl::StatusOr<int64_t> OutputWriter::Write(const v1::WriteOutputRequest& request) const {
  const fs::path path = fs::path(request.path()).lexically_normal();
  HOUTU_RETURN_IF_ERROR(CheckPath(path));
  HOUTU_RETURN_IF_ERROR(MakeFolders(path));
  HOUTU_RETURN_IF_ERROR(CheckPath(path));  // now that no part of it can be missing
  const fs::path fresh = path / (".houtu-" + request.job());
  HOUTU_RETURN_IF_ERROR(RemoveTree(fresh));
  HOUTU_RETURN_IF_ERROR(MakeFolders(fresh));
  absl::StatusOr<int64_t> bytes = Collect(request, fresh);
  absl::Status status = bytes.status();
  if (status.ok()) {
    status = Publish(fresh, path);
  }
  if (!status.ok()) {
    RemoveTree(fresh).IgnoreError();  // the first error is the one to tell
    return status;
  }
  LogInfo("output written", {{"job", request.job()}, {"path", path.native()}, {"bytes", *bytes}});
  return bytes;
}

absl::Status OutputWriter::CheckPath(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  for (const std::string& root : options_.roots) {
    const fs::path real_root = fs::weakly_canonical(root, error);
    if (!error && IsBelow(path, fs::path(root).lexically_normal()) && IsBelow(real, real_root)) {
      return absl::OkStatus();
    }
  }
  return Error(absl::StatusCode::kPermissionDenied,
               "output path {} is not below an output root of {}: its agent's configuration names "
               "them (output_roots)",
               LogValue(path.native()), options_.node);
}

absl::StatusOr<int64_t> OutputWriter::Collect(const v1::WriteOutputRequest& request,
                                              const fs::path& fresh) const {
  int64_t bytes = 0;
  for (const v1::PartitionSource& source : request.sources()) {
    if (source.node() == options_.node && source.datacenter() == options_.datacenter) {
      HOUTU_ASSIGN_OR_RETURN(const int64_t copied, CopyLocal(request.job(), source, fresh));
      bytes += copied;
      continue;
    }
    v1::FetchPartitionsRequest fetch;
    fetch.set_job(request.job());
    fetch.set_stage(source.stage());
    *fetch.mutable_partitions() = source.partitions();
    FileReceiver receiver(fresh);
    std::vector<v1::PartitionRef> lost;
    HOUTU_RETURN_IF_ERROR(remote_->FetchPartitions(
        source.agent_address(), fetch,
        [&receiver](const v1::FileChunk& chunk) { return receiver.Take(chunk); }, &lost));
    HOUTU_RETURN_IF_ERROR(receiver.End());
    bytes += receiver.bytes();
  }
  return bytes;
}

absl::StatusOr<int64_t> OutputWriter::CopyLocal(const std::string& job,
                                                const v1::PartitionSource& source,
                                                const fs::path& fresh) const {
  int64_t bytes = 0;
  for (const v1::PartitionRef& ref : source.partitions()) {
    const AttemptKey id{
        .job = job, .stage = source.stage(), .task = ref.task(), .attempt = ref.attempt()};
    HOUTU_ASSIGN_OR_RETURN(const std::vector<v1::FileHeader> files, store_->List(id));
    const fs::path folder = fresh / std::to_string(ref.task());
    HOUTU_RETURN_IF_ERROR(MakeFolders(folder));
    for (const v1::FileHeader& file : files) {
      HOUTU_ASSIGN_OR_RETURN(const Fd from, store_->Open(id, file.name()));
      HOUTU_ASSIGN_OR_RETURN(const Fd to, CreateFile(folder / file.name()));
      HOUTU_RETURN_IF_ERROR(CopyBytes(from.get(), 0, file.size_bytes(), to.get()));
      bytes += file.size_bytes();
    }
  }
  return bytes;
}

}  // namespace houtu::agent
