// Lifeline: callbacks that outlive their object do nothing.
#pragma once

#include <memory>
#include <utility>

namespace houtu::coordination {

/// A member of an object whose callbacks may arrive after its end. Everything on one thread: the
/// object's end and the guarded callbacks. Declare it last, so that it goes first.
class Lifeline {
 public:
  Lifeline() = default;
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// `function`, which does nothing once this Lifeline is gone.
  template <typename Function>
  auto Guard(Function function) const {
    return [alive = std::weak_ptr<const int>(token_),
            function = std::move(function)](auto&&... args) mutable {
      if (!alive.expired()) function(std::forward<decltype(args)>(args)...);
    };
  }

  /// For code that must do something else instead: expired() once the object is gone.
  std::weak_ptr<const int> token() const { return token_; }

 private:
  std::shared_ptr<const int> token_ = std::make_shared<const int>(0);
};

}  // namespace houtu::coordination
