#include <functional>

#include "common/coordination/memory.h"
#include "tests/common/coordination/store_under_test.h"

namespace houtu::testing {
namespace {

using coordination::Coordination;
using coordination::MemoryCoordination;
using coordination::MemoryStore;

class MemorySession final : public SessionUnderTest {
 public:
  MemorySession(std::shared_ptr<MemoryStore> store, EventLoop* loop)
      : store_(std::move(store)), loop_(loop) {
    RunOn(loop_, [this] {
      session_ = std::make_unique<MemoryCoordination>(
          store_, [loop = loop_](std::function<void()> f) { loop->Post(std::move(f)); });
    });
  }
  ~MemorySession() override {
    RunOn(loop_, [this] { session_.reset(); });
  }

  Coordination* coordination() override { return session_.get(); }
  void Disconnect() override { session_->Disconnect(); }
  void Reconnect() override { session_->Reconnect(); }
  void LoseNextAnswer() override { session_->LoseAnswerOfWrite(); }
  void Expire() override { store_->ExpireSession(session_->session_id()); }

 private:
  const std::shared_ptr<MemoryStore> store_;
  EventLoop* const loop_;
  std::unique_ptr<MemoryCoordination> session_;
};

class MemoryStoreUnderTest final : public StoreUnderTest {
 public:
  std::unique_ptr<SessionUnderTest> Open(EventLoop* loop) override {
    return std::make_unique<MemorySession>(store_, loop);
  }

 private:
  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

}  // namespace

std::unique_ptr<StoreUnderTest> StoreUnderTest::Make(std::string*) {
  return std::make_unique<MemoryStoreUnderTest>();
}

}  // namespace houtu::testing
