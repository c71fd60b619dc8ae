#include "agent/service/remote_files.h"

#include <grpc/support/time.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <memory>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/status.h"
#include "houtu/v1/partition_service.grpc.pb.h"

namespace houtu::agent {
namespace {

/// One call that streams files here, on the calling thread. It has a completion queue of its own,
/// because that alone lets a single wait have a limit.
class ChunkCall {
 public:
  explicit ChunkCall(absl::Duration idle_max) : idle_max_(idle_max) {}
  ~ChunkCall() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    HOUTU_CHECK(!queue_.Next(&tag, &ok), "each operation was waited for");
  }

  /// Gives `sink` each chunk until the stream's end. `prepare(context, queue)` makes the call.
  template <typename Prepare>
  absl::Status Run(Prepare prepare, const ChunkSink& sink) {
    const auto reader = prepare(&context_, &queue_);
    reader->StartCall(this);
    bool more = Await();
    absl::Status taken;
    v1::FileChunk chunk;
    while (more && taken.ok()) {
      reader->Read(&chunk, this);
      more = Await();
      if (more) {
        taken = sink(chunk);
      }
    }
    if (!taken.ok()) {
      context_.TryCancel();
    }
    reader->Finish(&end_, this);
    Await();
    return taken.ok() ? End() : taken;
  }

  /// What the other agent added to the end's status.
  std::string details() const { return end_.error_details(); }

 private:
  /// Waits for the operation under way; false: it failed, or nothing came in time.
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    const gpr_timespec limit =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_millis(absl::ToInt64Milliseconds(idle_max_), GPR_TIMESPAN));
    if (queue_.AsyncNext(&tag, &ok, limit) == grpc::CompletionQueue::TIMEOUT) {
      idled_ = true;
      context_.TryCancel();
      queue_.Next(&tag, &ok);  // soon: the call is cancelled
    }
    return ok && !idled_;
  }

  absl::Status End() const {
    if (idled_) {
      return Error(absl::StatusCode::kUnavailable, "nothing arrived for {}",
                   absl::FormatDuration(idle_max_));
    }
    if (end_.error_code() == grpc::StatusCode::CANCELLED) {
      return absl::UnavailableError("the other agent ended the stream");
    }
    return FromGrpc(end_);
  }

  const absl::Duration idle_max_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::Status end_;
  bool idled_ = false;
};

}  // namespace

absl::Status GrpcRemoteFiles::FetchPartitions(const std::string& address,
                                              const v1::FetchPartitionsRequest& request,
                                              const ChunkSink& sink,
                                              std::vector<v1::PartitionRef>* lost) {
  const auto stub = v1::PartitionService::NewStub(channels_->Get(address));
  ChunkCall call(idle_max_);
  absl::Status status = call.Run(
      [&](auto* context, auto* queue) {
        return stub->PrepareAsyncFetchPartitions(context, request, queue);
      },
      sink);
  v1::FetchPartitionsRequest missing;
  if (absl::IsNotFound(status) && missing.ParseFromString(call.details())) {
    lost->assign(missing.partitions().begin(), missing.partitions().end());
  }
  return status;
}

absl::Status GrpcRemoteFiles::FetchInput(const std::string& address,
                                         const v1::FetchInputRequest& request,
                                         const ChunkSink& sink) {
  const auto stub = v1::PartitionService::NewStub(channels_->Get(address));
  return ChunkCall(idle_max_).Run(
      [&](auto* context, auto* queue) {
        return stub->PrepareAsyncFetchInput(context, request, queue);
      },
      sink);
}

}  // namespace houtu::agent
