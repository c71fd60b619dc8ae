// What the contract suite needs of an implementation: sessions and their faults. Each test program
// links one implementation of StoreUnderTest::Make.
#pragma once

#include <memory>
#include <string>

#include "common/coordination/coordination.h"
#include "common/loop/event_loop.h"

namespace houtu::testing {

/// One session with its faults. Destroyed before its loop, not on the loop's thread.
class SessionUnderTest {
 public:
  virtual ~SessionUnderTest() = default;

  virtual coordination::Coordination* coordination() = 0;
  /// The connection breaks and stays broken, the session lives.
  virtual void Disconnect() = 0;
  virtual void Reconnect() = 0;
  /// The next write reaches the store, its answer does not come. Then call Disconnect.
  virtual void LoseNextAnswer() = 0;
  /// The store ends the session as if its time had passed.
  virtual void Expire() = 0;
};

/// An empty store.
class StoreUnderTest {
 public:
  /// Empty if there is none on this machine; `why_not` says why.
  static std::unique_ptr<StoreUnderTest> Make(std::string* why_not);
  virtual ~StoreUnderTest() = default;

  virtual std::unique_ptr<SessionUnderTest> Open(EventLoop* loop) = 0;
};

/// Runs `function` on the loop's thread and waits for its end.
void RunOn(EventLoop* loop, std::function<void()> function);

}  // namespace houtu::testing
