// PulledStream: a server's stream whose messages are made one at a time, by a worker, when the one
// before has left: memory of one message, however slow the reader.
//
//   pull on a worker ──message──> write ──done──> pull …      kWait: pulled again after a pause
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"
#include "common/rpc/status.h"

namespace houtu::agent {

/// What one pull gave.
template <typename Message>
struct Pulled {
  enum class Kind { kMessage, kWait, kEnd };
  Kind kind = Kind::kEnd;
  Message message;
  /// With kEnd: how the call ends.
  grpc::Status status = grpc::Status::OK;

  static Pulled End(const absl::Status& status) { return {.status = ToGrpc(status)}; }
  static Pulled Give(Message message) {
    return {.kind = Kind::kMessage, .message = std::move(message)};
  }
};

/// Keeps itself alive until gRPC is done with it. `pool` and `loop` outlive the server.
template <typename Message>
class PulledStream final : public grpc::ServerWriteReactor<Message> {
 public:
  using Pull = std::function<Pulled<Message>()>;
  static constexpr absl::Duration kPause = absl::Milliseconds(100);

  /// Pulls as soon as `check`, on a worker too, has let the caller through; its error is the
  /// answer.
  static grpc::ServerWriteReactor<Message>* Start(WorkerPool* pool, EventLoop* loop,
                                                  std::function<absl::Status()> check, Pull pull) {
    return Start(pool, loop,
                 [check = std::move(check), pull = std::move(pull), passed = false]() mutable {
                   if (!passed) {
                     if (const absl::Status status = check(); !status.ok()) {
                       return Pulled<Message>::End(status);
                     }
                     passed = true;
                   }
                   return pull();
                 });
  }

  static grpc::ServerWriteReactor<Message>* Start(WorkerPool* pool, EventLoop* loop, Pull pull) {
    std::shared_ptr<PulledStream> stream(new PulledStream(pool, loop, std::move(pull)));
    stream->self_ = stream;
    stream->PullNext();
    return stream.get();
  }

  void OnWriteDone(bool ok) override {
    if (ok) {
      PullNext();
    } else {
      this->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the reader is gone"));
    }
  }

  void OnCancel() override { cancelled_ = true; }

  void OnDone() override { self_.reset(); }

 private:
  PulledStream(WorkerPool* pool, EventLoop* loop, Pull pull)
      : pool_(pool), loop_(loop), pull_(std::move(pull)) {}

  void PullNext() {
    pool_->Submit([this] {
      if (cancelled_) {
        this->Finish(grpc::Status::CANCELLED);
        return;
      }
      Pulled<Message> pulled = pull_();
      switch (pulled.kind) {
        case Pulled<Message>::Kind::kMessage:
          message_ = std::move(pulled.message);
          this->StartWrite(&message_);
          return;
        case Pulled<Message>::Kind::kWait:
          loop_->PostAfter(kPause, [this] { PullNext(); });
          return;
        case Pulled<Message>::Kind::kEnd:
          this->Finish(pulled.status);
      }
    });
  }

  WorkerPool* const pool_;
  EventLoop* const loop_;
  const Pull pull_;
  Message message_;
  std::atomic<bool> cancelled_ = false;
  std::shared_ptr<PulledStream> self_;
};

}  // namespace houtu::agent
