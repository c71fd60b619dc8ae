// WorkerPool: blocking work (runc, fsync, copying) off the core's thread. Its result comes back by
// Post.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace houtu {

/// A fixed number of threads that take work from one queue, first come, first served. Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  /// Finishes what runs, drops what waits, joins.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace houtu
