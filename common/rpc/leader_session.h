// LeaderSession: a stream to whoever leads an election, got back when it breaks or another leads.
//
//   leader known ──> stream: on_open, on_message ... on_end ──pause──> stream to who leads then
//
// A template only: who uses it links houtu_coordination beside houtu_rpc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/coordination/coordination.h"
#include "common/coordination/leader.h"
#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/rpc/reconnect.h"
#include "common/rpc/stream.h"
#include "houtu/v1/record.pb.h"

namespace houtu {

/// `Out` and `In`: the stream's messages. Owner: a daemon's session with its master. Thread: the
/// loop's, the destructor's too.
template <typename Out, typename In>
class LeaderSession {
 public:
  using Stream = ClientStream<Out, In>;

  struct Options {
    EventLoop* loop = nullptr;
    /// Opens a stream to the address.
    std::function<std::shared_ptr<Stream>(const std::string&, StreamEvents<In>)> open;
    /// What is sent from here goes first.
    std::function<void()> on_open;
    std::function<void(In)> on_message;
    /// False: it is not to be opened again.
    std::function<bool(const absl::Status&)> on_end;
  };

  explicit LeaderSession(Options options) : options_(std::move(options)) {}
  LeaderSession(const LeaderSession&) = delete;
  LeaderSession& operator=(const LeaderSession&) = delete;
  ~LeaderSession() { Reopen(); }

  /// Looks for the leader of the election at `path`, until Unfollow. `coordination` outlives that.
  void Follow(coordination::Coordination* coordination, const std::string& path) {
    leader_.emplace(coordination, path, [this](const std::optional<coordination::Leader>& leader) {
      OnLeader(leader);
    });
  }
  /// What is open stays, and is opened again at the leader last known.
  void Unfollow() { leader_.reset(); }

  /// Dropped where no stream is open.
  void Send(Out message) {
    if (stream_ != nullptr) {
      stream_->Send(std::move(message));
    }
  }
  /// Ends the stream; on_end follows, and another stream.
  void Reopen() {
    if (stream_ != nullptr) {
      stream_->Cancel();
    }
  }
  /// Of the leader last known; empty: none.
  const std::string& address() const { return address_; }

 private:
  void OnLeader(const std::optional<coordination::Leader>& leader) {
    v1::Candidate candidate;
    if (!leader.has_value() || !candidate.ParseFromString(leader->candidate)) {
      return;  // the stream ends by itself when its leader does
    }
    const bool same = candidate.address() == address_;
    address_ = candidate.address();
    reconnect_.Reset();
    if (stream_ == nullptr) {
      Connect();
    } else if (!same) {
      Reopen();
    }
  }

  void Connect() {
    if (address_.empty() || stream_ != nullptr) {
      return;
    }
    stream_ = options_.open(
        address_,
        {.on_message = lifeline_.Guard([this](In message) {
           reconnect_.Reset();
           options_.on_message(std::move(message));
         }),
         .on_end = lifeline_.Guard([this](const absl::Status& status) { OnEnd(status); })});
    options_.on_open();
  }

  void OnEnd(const absl::Status& status) {
    stream_.reset();
    if (options_.on_end(status) && !std::exchange(retry_set_, true)) {
      options_.loop->PostAfter(reconnect_.Next(), lifeline_.Guard([this] {
        retry_set_ = false;
        Connect();
      }));
    }
  }

  const Options options_;
  std::string address_;
  std::shared_ptr<Stream> stream_;
  bool retry_set_ = false;
  Reconnect reconnect_;
  std::optional<coordination::LeaderWatch> leader_;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu
