// Interrupt: Ctrl-C and idle limits for blocking calls. A command's thread blocks in gRPC or
// sleeps; this watches beside it and cancels what it does when the user interrupts or nothing
// arrives for too long.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace houtu::client {

/// Owner: main; outlives everything that uses it. Thread-safe.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Cancels everything that is watched, now and later.
  void Fire();
  bool fired() const;

  /// Sleeps; false: interrupted meanwhile.
  bool Sleep(absl::Duration duration);

  /// While it lives, `cancel` is called once: when Fire is, or when Touch was not called for
  /// `idle`. `cancel` must not block.
  class Watch {
   public:
    Watch(Interrupt* interrupt, absl::Duration idle, std::function<void()> cancel);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Something arrived; from now on `idle` counts.
    void Touch(absl::Duration idle);
    /// Whether it was cancelled for idleness.
    bool idled() const;

   private:
    Interrupt* const interrupt_;
    int id_;
  };

 private:
  struct Watched {
    std::function<void()> cancel;
    absl::Time idle_at;
    bool cancelled = false;
    bool idled = false;
  };

  void Run();
  void CancelDue(absl::Time now);
  absl::Time NextDue() const;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::map<int, Watched> watched_;
  int next_id_ = 0;
  bool fired_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: started when the rest is there
};

/// While it lives, the first SIGINT or SIGTERM fires `interrupt`; the second one ends the process
/// as usual. One at a time in a process.
class SignalSource {
 public:
  explicit SignalSource(Interrupt* interrupt);
  ~SignalSource();
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;

 private:
  std::thread thread_;
};

}  // namespace houtu::client
