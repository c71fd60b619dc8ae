// Bidirectional streams for a loop: messages and the end arrive by Post, Send never blocks. The
// next message is read only when the loop has handled the one before, so a fast peer can't fill the
// memory.
//
//   created ──Start──> open ──peer's end, error, Cancel/Finish──> ended: on_end(status), once
//
// ClientStream and ServerStream differ only in who starts and who says the status. Both keep
// themselves alive until gRPC is done with them; the owner's shared_ptr may go earlier.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "common/loop/event_loop.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"

namespace houtu {

/// The messages that wait to be written to a stream; one write is in flight at a time. Thread-safe.
template <typename Message>
class WriteQueue {
 public:
  /// Queues it. `write_now`: the caller must start writing Front(). False: the limit is reached.
  bool Push(Message message, bool* write_now) {
    const std::lock_guard lock(mutex_);
    *write_now = queue_.empty();
    if (queue_.size() >= kStreamMessagesQueuedMax) {
      return false;
    }
    queue_.push_back(std::move(message));
    return true;
  }

  /// The write of Front() is done; the next to write, or nullptr.
  const Message* PopAndNext() {
    const std::lock_guard lock(mutex_);
    queue_.pop_front();
    return queue_.empty() ? nullptr : &queue_.front();
  }

  const Message* Front() {
    const std::lock_guard lock(mutex_);
    return queue_.empty() ? nullptr : &queue_.front();
  }

 private:
  std::mutex mutex_;
  std::deque<Message> queue_;
};

/// What a stream tells its owner, on the loop's thread.
template <typename In>
struct StreamEvents {
  std::function<void(In)> on_message;
  std::function<void(absl::Status)> on_end;
};

/// A client's side. `start(context, reactor)` calls the generated async()->Method(context,
/// reactor).
template <typename Out, typename In>
class ClientStream final : public grpc::ClientBidiReactor<Out, In> {
 public:
  template <typename StartFunction>
  static std::shared_ptr<ClientStream> Start(EventLoop* loop, std::shared_ptr<void> keep_alive,
                                             StreamEvents<In> events, StartFunction start) {
    std::shared_ptr<ClientStream> stream(
        new ClientStream(loop, std::move(keep_alive), std::move(events)));
    stream->self_ = stream;
    start(&stream->context_, stream.get());
    // Holds: writes and reads are started from outside the reactions, by the loop.
    stream->AddHold();
    stream->StartRead(&stream->incoming_);
    stream->StartCall();
    return stream;
  }

  /// Sends soon, in order. After the end it does nothing.
  void Send(Out message) {
    bool write_now = false;
    if (!queue_.Push(std::move(message), &write_now)) {
      context_.TryCancel();
      return;
    }
    if (write_now) {
      StartNextWrite(queue_.Front());
    }
  }

  /// Ends the stream; on_end follows with CANCELLED.
  void Cancel() { context_.TryCancel(); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      // The peer ended the stream. Cancelling it here could hide the status that the peer gave.
      ReleaseHold();
      return;
    }
    loop_->Post([this, self = self_] {
      In message;
      message.Swap(&incoming_);
      events_.on_message(std::move(message));
      const std::lock_guard lock(mutex_);
      if (!released_) {
        this->StartRead(&incoming_);
      }
    });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      return;  // the reading sees the end, after what the peer still sent
    }
    StartNextWrite(queue_.PopAndNext());
  }

  void OnDone(const grpc::Status& status) override {
    loop_->Post(
        [self = std::move(self_), status = FromGrpc(status)] { self->events_.on_end(status); });
  }

 private:
  ClientStream(EventLoop* loop, std::shared_ptr<void> keep_alive, StreamEvents<In> events)
      : loop_(loop), keep_alive_(std::move(keep_alive)), events_(std::move(events)) {}

  void StartNextWrite(const Out* message) {
    const std::lock_guard lock(mutex_);
    if (message != nullptr && !released_) {
      this->StartWrite(message);
    }
  }

  void ReleaseHold() {
    {
      const std::lock_guard lock(mutex_);
      if (released_) {
        return;
      }
      released_ = true;
    }
    this->RemoveHold();
  }

  EventLoop* const loop_;
  const std::shared_ptr<void> keep_alive_;
  StreamEvents<In> events_;
  grpc::ClientContext context_;
  In incoming_;
  WriteQueue<Out> queue_;
  std::mutex mutex_;
  bool released_ = false;
  std::shared_ptr<ClientStream> self_;
};

/// A server's side. The service's method makes it, sets its events and returns it as the reactor.
template <typename In, typename Out>
class ServerStream final : public grpc::ServerBidiReactor<In, Out> {
 public:
  /// `events` may refer to the stream by a weak_ptr; Begin starts the reading.
  static std::shared_ptr<ServerStream> Create(EventLoop* loop) {
    std::shared_ptr<ServerStream> stream(new ServerStream(loop));
    stream->self_ = stream;
    return stream;
  }

  void Begin(StreamEvents<In> events) {
    events_ = std::move(events);
    this->StartRead(&incoming_);
  }

  /// Sends soon, in order. After the end it does nothing.
  void Send(Out message) {
    bool write_now = false;
    if (!queue_.Push(std::move(message), &write_now)) {
      Finish(absl::ResourceExhaustedError("the peer reads too slowly"));
      return;
    }
    if (write_now) {
      StartNextWrite(queue_.Front());
    }
  }

  /// Ends the stream with this status; on_end follows.
  void Finish(const absl::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (finished_) {
        return;
      }
      finished_ = true;
      end_ = status;
    }
    grpc::ServerBidiReactor<In, Out>::Finish(ToGrpc(status));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(absl::OkStatus());
      return;
    }
    loop_->Post([this, self = self_] {
      In message;
      message.Swap(&incoming_);
      events_.on_message(std::move(message));
      const std::lock_guard lock(mutex_);
      if (!finished_) {
        this->StartRead(&incoming_);
      }
    });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(absl::UnavailableError("the peer is gone"));
      return;
    }
    StartNextWrite(queue_.PopAndNext());
  }

  void OnCancel() override { Finish(absl::CancelledError("the peer is gone")); }

  void OnDone() override {
    loop_->Post([self = std::move(self_)] {
      if (self->events_.on_end) {
        self->events_.on_end(self->end_);
      }
    });
  }

 private:
  explicit ServerStream(EventLoop* loop) : loop_(loop) {}

  void StartNextWrite(const Out* message) {
    const std::lock_guard lock(mutex_);
    if (message != nullptr && !finished_) {
      this->StartWrite(message);
    }
  }

  EventLoop* const loop_;
  StreamEvents<In> events_;
  In incoming_;
  WriteQueue<Out> queue_;
  std::mutex mutex_;
  bool finished_ = false;
  absl::Status end_;
  std::shared_ptr<ServerStream> self_;
};

}  // namespace houtu
