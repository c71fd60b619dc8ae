#include "agent/service/remote_files.h"

#include <grpcpp/client_context.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "common/base/status.h"
#include "common/loop/event_loop.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/status.h"
#include "houtu/v1/partition_service.grpc.pb.h"

namespace houtu::agent {
namespace {

/// Cancels a call on which nothing came between two looks. Shared with the loop's timer, which ends
/// by itself when the call is over.
class IdleWatch : public std::enable_shared_from_this<IdleWatch> {
 public:
  IdleWatch(EventLoop* loop, grpc::ClientContext* context) : loop_(loop), context_(context) {}

  void Touch() { moved_ = true; }
  bool idled() const { return idled_; }

  void Start() {
    loop_->PostAfter(GrpcRemoteFiles::kIdleMax, [self = shared_from_this()] { self->Look(); });
  }
  /// No look uses the call's context after this.
  void Stop() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }

 private:
  void Look() {
    {
      const std::lock_guard lock(mutex_);
      if (context_ == nullptr) {
        return;
      }
      if (!moved_.exchange(false)) {
        idled_ = true;
        context_->TryCancel();
        return;
      }
    }
    Start();
  }

  EventLoop* const loop_;
  std::mutex mutex_;
  grpc::ClientContext* context_;
  std::atomic<bool> moved_ = true;
  std::atomic<bool> idled_ = false;
};

/// Reads a stream to its end. `open(context)` starts it.
template <typename Open>
absl::Status ReadAll(EventLoop* loop, Open open, const ChunkSink& sink, grpc::Status* end) {
  grpc::ClientContext context;
  const auto watch = std::make_shared<IdleWatch>(loop, &context);
  watch->Start();
  const auto reader = open(&context);
  v1::FileChunk chunk;
  absl::Status taken;
  while (taken.ok() && reader->Read(&chunk)) {
    watch->Touch();
    taken = sink(chunk);
  }
  if (!taken.ok()) {
    context.TryCancel();
  }
  *end = reader->Finish();
  watch->Stop();
  if (!taken.ok()) {
    return taken;
  }
  if (watch->idled()) {
    return Error(absl::StatusCode::kUnavailable, "nothing arrived for {}",
                 absl::FormatDuration(GrpcRemoteFiles::kIdleMax));
  }
  if (end->error_code() == grpc::StatusCode::CANCELLED) {
    return absl::UnavailableError("the other agent ended the stream");
  }
  return FromGrpc(*end);
}

}  // namespace

absl::Status GrpcRemoteFiles::FetchPartitions(const std::string& address,
                                              const v1::FetchPartitionsRequest& request,
                                              const ChunkSink& sink,
                                              std::vector<v1::PartitionRef>* lost) {
  const auto stub = v1::PartitionService::NewStub(channels_->Get(address));
  grpc::Status end;
  const absl::Status status = ReadAll(
      loop_, [&](auto* context) { return stub->FetchPartitions(context, request); }, sink, &end);
  v1::FetchPartitionsRequest missing;
  if (absl::IsNotFound(status) && missing.ParseFromString(end.error_details())) {
    lost->assign(missing.partitions().begin(), missing.partitions().end());
  }
  return status;
}

absl::Status GrpcRemoteFiles::FetchInput(const std::string& address,
                                         const v1::FetchInputRequest& request,
                                         const ChunkSink& sink) {
  const auto stub = v1::PartitionService::NewStub(channels_->Get(address));
  grpc::Status end;
  return ReadAll(
      loop_, [&](auto* context) { return stub->FetchInput(context, request); }, sink, &end);
}

}  // namespace houtu::agent
