#include "agent/service/strands.h"

#include <utility>

namespace houtu::agent {

void Strands::Submit(const std::string& name, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_[name];
    queue.push_back(std::move(work));
    if (queue.size() > 1) {
      return;  // the one that runs now goes on with it
    }
  }
  pool_->Submit([this, name] { RunNext(name); });
}

void Strands::RunNext(const std::string& name) {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    work = queues_[name].front();
  }
  work();
  {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_[name];
    queue.pop_front();
    if (queue.empty()) {
      queues_.erase(name);
      return;
    }
  }
  // Back to the pool's queue after each piece: a busy lease must not starve the others.
  pool_->Submit([this, name] { RunNext(name); });
}

void BoundedQueue::Submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    if (free_ == 0) {
      return;
    }
    --free_;
  }
  pool_->Submit([this] { RunNext(); });
}

void BoundedQueue::RunNext() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
      // Another one, which had just ended its work, took what this one was called for.
      ++free_;
      return;
    }
    work = std::move(queue_.front());
    queue_.pop_front();
  }
  work();
  // To the pool's queue after each piece: other work must have its turn.
  pool_->Submit([this] { RunNext(); });
}

}  // namespace houtu::agent
