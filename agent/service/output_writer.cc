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

/// `lost` empty: not known which, so all of the source's.
v1::WriteOutputResponse Lost(const v1::PartitionSource& source, std::vector<v1::PartitionRef> lost,
                             const absl::Status& why) {
  if (lost.empty()) {
    lost.assign(source.partitions().begin(), source.partitions().end());
  }
  v1::WriteOutputResponse response;
  response.set_why(
      fmt::format("stage {} on {}: {}", source.stage(), LogValue(source.node()), Message(why)));
  for (const v1::PartitionRef& ref : lost) {
    v1::LostPartition* partition = response.add_lost();
    partition->set_stage(source.stage());
    partition->set_task(ref.task());
    partition->set_attempt(ref.attempt());
    partition->set_node(source.node());
  }
  return response;
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

absl::StatusOr<v1::WriteOutputResponse> OutputWriter::Write(
    const v1::WriteOutputRequest& request, const std::function<bool()>& cancelled) const {
  HOUTU_RETURN_IF_ERROR(CheckRequest(request));
  HOUTU_ASSIGN_OR_RETURN(const fs::path place,
                         OutputFolder::Resolve(options_.roots, request.path()));
  // The one before was asked by a manager that is gone: its call gives up soon.
  const Turn turn(this, request.job());
  OutputFolder folder(place, request.job());
  HOUTU_RETURN_IF_ERROR(folder.Begin());
  HOUTU_ASSIGN_OR_RETURN(v1::WriteOutputResponse response,
                         Collect(request, folder.fresh(), cancelled));
  if (response.lost_size() > 0) {
    LogWarning("output not written",
               {{"job", request.job()}, {"path", place.native()}, {"why", response.why()}});
    return response;
  }
  HOUTU_RETURN_IF_ERROR(folder.Publish());
  LogInfo("output written",
          {{"job", request.job()}, {"path", place.native()}, {"bytes", response.bytes()}});
  return response;
}

absl::StatusOr<v1::WriteOutputResponse> OutputWriter::Collect(
    const v1::WriteOutputRequest& request, const fs::path& fresh,
    const std::function<bool()>& cancelled) const {
  v1::WriteOutputResponse all;
  for (const v1::PartitionSource& source : request.sources()) {
    HOUTU_ASSIGN_OR_RETURN(v1::WriteOutputResponse one,
                           Bring(request.job(), source, fresh, cancelled));
    if (one.lost_size() > 0) {
      return one;
    }
    all.set_bytes(all.bytes() + one.bytes());
  }
  return all;
}

absl::StatusOr<v1::WriteOutputResponse> OutputWriter::Bring(
    const std::string& job, const v1::PartitionSource& source, const fs::path& fresh,
    const std::function<bool()>& cancelled) const {
  v1::FetchPartitionsRequest request;
  request.set_job(job);
  request.set_stage(source.stage());
  *request.mutable_partitions() = source.partitions();
  v1::WriteOutputResponse response;
  std::vector<v1::PartitionRef> lost;
  absl::Status own;  // of this node's disk, or that nobody waits
  const absl::Status status = RetryStream(options_.retry, [&]() -> absl::Status {
    lost.clear();
    HOUTU_RETURN_IF_ERROR(own = MakeTaskFolders(source, fresh));
    FileReceiver receiver(fresh);
    const auto take = [&](const v1::FileChunk& chunk) {
      absl::Status taken =
          cancelled() ? absl::AbortedError("nobody waits for it any more") : receiver.Take(chunk);
      if (!taken.ok() && !absl::IsDataLoss(taken) && !absl::IsInvalidArgument(taken)) {
        own = taken;
      }
      return taken;
    };
    absl::Status got = Stream(source, request, take, &lost);
    if (got.ok()) {
      got = receiver.End();
    }
    if (absl::IsDataLoss(got) && lost.empty()) {
      lost.emplace_back().set_task(receiver.current().task());
      lost.back().set_attempt(receiver.current().attempt());
    }
    response.set_bytes(receiver.bytes());
    return got;
  });
  HOUTU_RETURN_IF_ERROR(own);
  return status.ok() ? response : Lost(source, std::move(lost), status);
}

absl::Status OutputWriter::Stream(const v1::PartitionSource& source,
                                  const v1::FetchPartitionsRequest& request, const ChunkSink& sink,
                                  std::vector<v1::PartitionRef>* lost) const {
  if (source.node() != options_.node || source.datacenter() != options_.datacenter) {
    return remote_->FetchPartitions(source.agent_address(), request, sink, lost);
  }
  PartitionStream stream(store_, request);
  while (true) {
    absl::StatusOr<std::optional<v1::FileChunk>> chunk = stream.Next();
    if (!chunk.ok()) {
      lost->assign(stream.lost().partitions().begin(), stream.lost().partitions().end());
      return chunk.status();
    }
    if (!*chunk) {
      return absl::OkStatus();
    }
    HOUTU_RETURN_IF_ERROR(sink(**chunk));
  }
}

}  // namespace houtu::agent
