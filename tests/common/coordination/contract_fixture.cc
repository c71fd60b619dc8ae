#include "tests/common/coordination/contract_fixture.h"

#include <functional>
#include <future>

#include "common/base/check.h"

namespace houtu::testing {
namespace {

using coordination::SessionState;

constexpr absl::Duration kCallTimeout = absl::Seconds(20);

}  // namespace

void RunOn(EventLoop* loop, std::function<void()> function) {
  std::promise<void> done;
  loop->Post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

Client::Client(StoreUnderTest* store, EventLoop* loop)
    : loop_(loop), session_(store->Open(loop)), blocking_(session_->coordination(), kCallTimeout) {
  RunOn(loop_, [this] {
    subscription_ =
        coordination()->OnSessionState([this](SessionState state) { states_.Add(state); });
  });
  const absl::Status connected = blocking_.AwaitConnected();
  HOUTU_CHECK(connected.ok(), connected.ToString());
}

Client::~Client() { Close(); }

void Client::Close() {
  if (session_ == nullptr) return;
  RunOn(loop_, [this] { subscription_ = coordination::Subscription(); });
  session_.reset();
}

void Client::Disconnect() {
  session_->Disconnect();
  EXPECT_TRUE(states_.AwaitLast(SessionState::kSuspended));
}

void Client::Reconnect() {
  session_->Reconnect();
  EXPECT_TRUE(states_.AwaitLast(SessionState::kConnected));
}

void ContractTest::SetUp() {
  std::string why_not;
  store_ = StoreUnderTest::Make(&why_not);
  if (store_ == nullptr) GTEST_SKIP() << why_not;
}

}  // namespace houtu::testing
