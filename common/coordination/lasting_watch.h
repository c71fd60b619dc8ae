// LastingWatch: reads a value again whenever its one-shot watch is called or the connection is
// back. What DataWatch and ChildrenWatch (watch.h) are made of.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "common/coordination/coordination.h"
#include "common/log/log.h"

namespace houtu::coordination {

/// Owner, lifetime and thread as for DataWatch.
///
/// One read is under way at a time; what happens meanwhile asks for one more after it. A watch
/// that is set and was not called stays valid over a reconnect, so then only the value is read
/// again: paths that never change must not gather watches with each blink.
template <typename T>
class LastingWatch {
 public:
  /// What a read found: the value (empty: it changed meanwhile, read again), and whether the
  /// given watch is set now.
  struct Reading {
    std::optional<T> value;
    bool armed = false;
  };
  using ReadDone = std::function<void(absl::StatusOr<Reading>)>;
  /// Reads the value; sets the watch, unless it is empty. Keeps nothing of the LastingWatch.
  using Read = std::function<void(Watch watch, ReadDone done)>;
  using Tell = std::function<void(const T&)>;

  /// `what` names the value in logs.
  LastingWatch(Coordination* coordination, std::string what, Read read, Tell tell)
      : coordination_(coordination),
        what_(std::move(what)),
        read_(std::move(read)),
        tell_(std::move(tell)),
        session_(coordination->OnSessionState([this](SessionState state) { OnState(state); })) {
    if (coordination_->state() == SessionState::kConnected) Refresh();
  }
  LastingWatch(const LastingWatch&) = delete;
  LastingWatch& operator=(const LastingWatch&) = delete;

 private:
  void OnState(SessionState state) {
    if (state == SessionState::kConnected) Refresh();
  }

  void Refresh() {
    if (reading_) {
      again_ = true;
      return;
    }
    reading_ = true;
    again_ = false;
    Watch watch;
    if (!armed_) watch = lifeline_.Guard([this](WatchEvent) { OnEvent(); });
    read_(std::move(watch), lifeline_.Guard([this](absl::StatusOr<Reading> reading) {
      OnReading(std::move(reading));
    }));
  }

  void OnEvent() {
    armed_ = false;
    fired_ = true;
    Refresh();
  }

  void OnReading(absl::StatusOr<Reading> reading) {
    reading_ = false;
    const bool fired = std::exchange(fired_, false);
    if (!reading.ok()) {
      OnFailure(reading.status());
      return;
    }
    // A watch that was called before its read's answer came is not set any more.
    if (reading->armed && !fired) armed_ = true;
    if (again_ || !reading->value.has_value()) Refresh();
    if (!reading->value.has_value() || told_ == reading->value) return;
    told_ = std::move(reading->value);
    const T value = *told_;
    const Tell tell = tell_;
    tell(value);  // last: it may end this object
  }

  void OnFailure(const absl::Status& status) {
    // Without a connection the next kConnected reads again; after the session's end nothing does.
    if (!absl::IsUnavailable(status)) {
      LogWarning("coordination watch failed", {{"path", what_}, {"status", status}});
    }
    if (again_) Refresh();
  }

  Coordination* const coordination_;
  const std::string what_;
  const Read read_;
  const Tell tell_;
  std::optional<T> told_;
  bool armed_ = false;    // a one-shot watch is set and has not been called
  bool fired_ = false;    // it was called while a read was under way
  bool reading_ = false;  // an answer is awaited
  bool again_ = false;    // read once more after that answer
  Subscription session_;
  Lifeline lifeline_;
};

}  // namespace houtu::coordination
