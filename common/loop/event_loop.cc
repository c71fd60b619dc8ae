#include "common/loop/event_loop.h"

#include <algorithm>

#include "common/base/check.h"

namespace houtu {

EventLoop::EventLoop() : thread_([this] { Run(); }) {}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Post(Function function) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return;
    }
    queue_.push_back(std::move(function));
  }
  wake_.notify_one();
}

EventLoop::TimerId EventLoop::PostAfter(absl::Duration delay, Function function) {
  TimerId id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_timer_++;
    if (stopping_) {
      return id;
    }
    const SteadyTime at = std::chrono::steady_clock::now() +
                          absl::ToChronoNanoseconds(std::max(delay, absl::ZeroDuration()));
    timers_.emplace(std::pair(at, id), std::move(function));
    timer_times_.emplace(id, at);
  }
  wake_.notify_one();
  return id;
}

void EventLoop::Cancel(TimerId timer) {
  const std::lock_guard lock(mutex_);
  if (const auto it = timer_times_.find(timer); it != timer_times_.end()) {
    timers_.erase({it->second, timer});
    timer_times_.erase(it);
  }
  due_timers_.erase(timer);
}

void EventLoop::SetAfterBatch(Function function) {
  const std::lock_guard lock(mutex_);
  after_batch_ = std::move(function);
}

void EventLoop::Stop() {
  HOUTU_CHECK(!OnLoopThread(), "a loop is stopped from outside");
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  // What was posted may own objects that post in their destructors: destroy it without the lock.
  std::deque<Function> queue;
  std::map<std::pair<SteadyTime, TimerId>, Function> timers;
  {
    const std::lock_guard lock(mutex_);
    queue.swap(queue_);
    timers.swap(timers_);
    timer_times_.clear();
  }
}

void EventLoop::TakeDueTimers(std::deque<Due>* due) {
  const auto now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto first = timers_.begin();
    due->push_back({.function = std::move(first->second), .timer = first->first.second});
    due_timers_.insert(first->first.second);
    timer_times_.erase(first->first.second);
    timers_.erase(first);
  }
}

bool EventLoop::StillWanted(const Due& due) {
  if (due.timer == 0) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  return due_timers_.erase(due.timer) > 0;
}

void EventLoop::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    std::deque<Due> batch;
    TakeDueTimers(&batch);
    for (Function& function : queue_) {
      batch.push_back({.function = std::move(function)});
    }
    queue_.clear();
    if (stopping_) {
      return;
    }
    if (batch.empty()) {
      if (timers_.empty()) {
        wake_.wait(lock);
      } else {
        wake_.wait_until(lock, timers_.begin()->first.first);
      }
      continue;
    }
    const Function after = after_batch_;
    lock.unlock();
    for (Due& due : batch) {
      if (StillWanted(due)) {
        due.function();
      }
      due.function = nullptr;
    }
    if (after) {
      after();
    }
    lock.lock();
  }
}

}  // namespace houtu
