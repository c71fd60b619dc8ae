// Calls whose answer is awaited from a C library, which knows each by its address.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace houtu::coordination {

/// Owns the contexts of the calls under way: the ZooKeeper client drops those silently whose
/// completion it has not begun when it is closed. Thread-safe.
class PendingCalls {
 public:
  void Keep(std::shared_ptr<void> call) {
    const std::lock_guard lock(mutex_);
    const void* const address = call.get();
    calls_.emplace(address, std::move(call));
  }

  /// Gives up the call at `address`, which was kept.
  std::shared_ptr<void> Take(const void* address) {
    const std::lock_guard lock(mutex_);
    auto node = calls_.extract(address);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<void>> calls_;
};

}  // namespace houtu::coordination
