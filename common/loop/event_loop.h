// EventLoop: the one thread that owns a daemon's core. Everything else (gRPC's and ZooKeeper's
// threads, workers) only posts to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/time/time.h"

namespace houtu {

/// Runs posted functions one by one, in the order posted, on its own thread; timers beside them.
/// Owner: a daemon's main. Thread-safe: Post, PostAfter, Cancel, Stop. Timers run on the monotonic
/// clock.
class EventLoop {
 public:
  using Function = std::function<void()>;
  using TimerId = uint64_t;

  EventLoop();
  /// Stops and joins.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Runs `function` on the loop's thread, soon. After Stop it is dropped.
  void Post(Function function);

  /// Runs `function` on the loop's thread once `delay` has passed (at once, if it is not above 0).
  TimerId PostAfter(absl::Duration delay, Function function);

  /// The timer will not run, unless it already has. From the loop's own thread this is exact.
  void Cancel(TimerId timer);

  /// Runs `function` after everything that is posted now; called after each batch of posted
  /// functions. For shells that gather effects. Set before the first Post.
  void SetAfterBatch(Function function);

  /// Lets the current function end, drops the rest and joins the thread. Not from the loop's own
  /// thread.
  void Stop();

  bool OnLoopThread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void Run();
  /// A posted function, or a timer's whose time has come.
  struct Due {
    Function function;
    TimerId timer = 0;  // 0: none
  };
  void TakeDueTimers(std::deque<Due>* due);
  /// Whether it should run: a timer may have been cancelled by what ran before it.
  bool StillWanted(const Due& due);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Function> queue_;
  std::map<std::pair<SteadyTime, TimerId>, Function> timers_;
  std::map<TimerId, SteadyTime> timer_times_;
  std::set<TimerId> due_timers_;  // in the batch that runs now
  TimerId next_timer_ = 1;
  bool stopping_ = false;
  Function after_batch_;
  std::thread thread_;  // last: started when the rest is there
};

}  // namespace houtu
