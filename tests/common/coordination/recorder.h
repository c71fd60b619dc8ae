// What callbacks on another thread told, in order, for a test to wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace houtu::testing {

/// Thread-safe.
template <typename T>
class Recorder {
 public:
  /// Long enough for a busy machine; a test that passes does not wait for it.
  static constexpr std::chrono::seconds kTimeout{20};

  void Add(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }

  std::vector<T> values() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }

  /// Waits until `predicate` holds for all that was told; false after kTimeout.
  bool Await(const std::function<bool(const std::vector<T>&)>& predicate) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTimeout, [&] { return predicate(values_); });
  }

  /// Waits until the last value told is `value`.
  bool AwaitLast(const T& value) const {
    return Await([&](const std::vector<T>& all) { return !all.empty() && all.back() == value; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<T> values_;
};

}  // namespace houtu::testing
