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
  /// As Stop.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// After Stop it is dropped.
  void Submit(std::function<void()> work);

  /// Finishes what runs, drops what waits, joins. Call it before what the work uses goes; not from
  /// a worker.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace houtu
