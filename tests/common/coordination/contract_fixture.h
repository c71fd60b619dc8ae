// The fixture of the contract suite, which runs on each implementation of Coordination.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/coordination/blocking.h"
#include "common/coordination/coordination.h"
#include "common/loop/event_loop.h"
#include "tests/common/coordination/recorder.h"
#include "tests/common/coordination/store_under_test.h"

namespace houtu::testing {

/// A session that is connected, with all that it was told of its state.
class Client {
 public:
  Client(StoreUnderTest* store, EventLoop* loop);
  ~Client();

  /// Waits for each call's answer.
  const coordination::BlockingCoordination& store() const { return blocking_; }
  coordination::Coordination* coordination() { return session_->coordination(); }
  SessionUnderTest& faults() { return *session_; }
  const Recorder<coordination::SessionState>& states() const { return states_; }
  /// Closes the session in order.
  void Close();

  /// The connection breaks, and it is told; then it comes back, and it is told.
  void Disconnect();
  void Reconnect();

 private:
  EventLoop* const loop_;
  std::unique_ptr<SessionUnderTest> session_;
  coordination::BlockingCoordination blocking_;
  Recorder<coordination::SessionState> states_;
  coordination::Subscription subscription_;
};

class ContractTest : public ::testing::Test {
 protected:
  void SetUp() override;

  std::unique_ptr<Client> Open() { return std::make_unique<Client>(store_.get(), &loop_); }
  void OnLoop(std::function<void()> function) { RunOn(&loop_, std::move(function)); }

  std::unique_ptr<StoreUnderTest> store_;
  EventLoop loop_;
};

}  // namespace houtu::testing
