// Strands and BoundedQueue: orders of work on one pool. Strands: work of one lease in order and one
// at a time, work of different leases side by side.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "common/loop/worker_pool.h"

namespace houtu::agent {

/// Thread-safe. The pool's end (before this one's) drops what waits.
class Strands {
 public:
  explicit Strands(WorkerPool* pool) : pool_(pool) {}

  /// Runs `work` on the pool after everything submitted before for this name.
  void Submit(const std::string& name, std::function<void()> work);

 private:
  void RunNext(const std::string& name);

  WorkerPool* const pool_;
  std::mutex mutex_;
  /// Names with work under way or waiting.
  std::map<std::string, std::deque<std::function<void()>>> queues_;
};

/// Work without an order, at most `width` pieces of it at a time: what waits for other machines
/// must not take every thread of the pool. Thread-safe. The pool's end (before this one's) drops
/// what waits.
class BoundedQueue {
 public:
  BoundedQueue(WorkerPool* pool, int width) : pool_(pool), free_(width) {}

  void Submit(std::function<void()> work);

 private:
  void RunNext();

  WorkerPool* const pool_;
  std::mutex mutex_;
  int free_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace houtu::agent
