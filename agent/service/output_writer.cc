#include "agent/service/output_writer.h"

#include <fmt/format.h>

#include <optional>

#include "agent/partitions/file_receiver.h"
#include "agent/partitions/files.h"
#include "agent/service/output_folder.h"
#include "agent/service/partition_stream.h"
#include "agent/service/request_names.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

absl::Status CheckRequest(const v1::WriteOutputRequest& request) {
  for (const v1::PartitionSource& source : request.sources()) {
    HOUTU_RETURN_IF_ERROR(CheckNames(request.job(), source.stage()));
  }
  return request.sources_size() > 0
             ? absl::OkStatus()
             : absl::InvalidArgumentError("the request names nothing to write");
}

/// An empty folder for each task, also for one that left no file.
absl::Status MakeTaskFolders(const v1::PartitionSource& source, const fs::path& fresh) {
  for (const v1::PartitionRef& ref : source.partitions()) {
    const fs::path folder = fresh / std::to_string(ref.task());
    HOUTU_RETURN_IF_ERROR(RemoveTree(folder));
    HOUTU_RETURN_IF_ERROR(MakeFolders(folder));
  }
  return absl::OkStatus();
}

}  // namespace

class OutputWriter::Turn {
 public:
  Turn(const OutputWriter* writer, const std::string& job) : writer_(writer), job_(job) {
    std::unique_lock lock(writer_->mutex_);
    writer_->turn_over_.wait(lock, [this] { return writer_->writing_.insert(job_).second; });
  }
  ~Turn() {
    const std::lock_guard lock(writer_->mutex_);
    writer_->writing_.erase(job_);
    writer_->turn_over_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const OutputWriter* const writer_;
  const std::string job_;
};

absl::StatusOr<int64_t> OutputWriter::Write(const v1::WriteOutputRequest& request,
                                            const std::function<bool()>& cancelled) const {
  HOUTU_RETURN_IF_ERROR(CheckRequest(request));
  HOUTU_ASSIGN_OR_RETURN(const fs::path place,
                         OutputFolder::Resolve(options_.roots, request.path()));
  // The one before was asked by a manager that is gone: its call gives up soon.
  const Turn turn(this, request.job());
  OutputFolder folder(place, request.job());
  HOUTU_RETURN_IF_ERROR(folder.Begin());
  HOUTU_ASSIGN_OR_RETURN(const int64_t bytes, Collect(request, folder.fresh(), cancelled));
  HOUTU_RETURN_IF_ERROR(folder.Publish());
  LogInfo("output written", {{"job", request.job()}, {"path", place.native()}, {"bytes", bytes}});
  return bytes;
}

absl::StatusOr<int64_t> OutputWriter::Collect(const v1::WriteOutputRequest& request,
                                              const fs::path& fresh,
                                              const std::function<bool()>& cancelled) const {
  int64_t bytes = 0;
  for (const v1::PartitionSource& source : request.sources()) {
    const absl::StatusOr<int64_t> brought = Bring(request.job(), source, fresh, cancelled);
    if (!brought.ok()) {
      return Annotate(brought.status(),
                      fmt::format("stage {} on {}", source.stage(), LogValue(source.node())));
    }
    bytes += *brought;
  }
  return bytes;
}

absl::StatusOr<int64_t> OutputWriter::Bring(const std::string& job,
                                            const v1::PartitionSource& source,
                                            const fs::path& fresh,
                                            const std::function<bool()>& cancelled) const {
  v1::FetchPartitionsRequest request;
  request.set_job(job);
  request.set_stage(source.stage());
  *request.mutable_partitions() = source.partitions();
  int64_t bytes = 0;
  const absl::Status status = RetryStream(options_.retry, [&]() -> absl::Status {
    HOUTU_RETURN_IF_ERROR(MakeTaskFolders(source, fresh));
    FileReceiver receiver(fresh);
    HOUTU_RETURN_IF_ERROR(Stream(source, request, [&](const v1::FileChunk& chunk) {
      return cancelled() ? absl::AbortedError("nobody waits for it any more")
                         : receiver.Take(chunk);
    }));
    bytes = receiver.bytes();
    return receiver.End();
  });
  HOUTU_RETURN_IF_ERROR(status);
  return bytes;
}

absl::Status OutputWriter::Stream(const v1::PartitionSource& source,
                                  const v1::FetchPartitionsRequest& request,
                                  const ChunkSink& sink) const {
  if (source.node() != options_.node || source.datacenter() != options_.datacenter) {
    std::vector<v1::PartitionRef> lost;
    return remote_->FetchPartitions(source.agent_address(), request, sink, &lost);
  }
  PartitionStream stream(store_, request);
  while (true) {
    HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::FileChunk> chunk, stream.Next());
    if (!chunk) {
      return absl::OkStatus();
    }
    HOUTU_RETURN_IF_ERROR(sink(*chunk));
  }
}

}  // namespace houtu::agent
