// What only a real server shows: it restarts, it stops answering, its address is wrong.
#include "common/coordination/zookeeper.h"

#include <gtest/gtest.h>

#include "common/coordination/blocking.h"
#include "common/loop/event_loop.h"
#include "tests/common/coordination/recorder.h"
#include "tests/common/coordination/store_under_test.h"
#include "tests/common/coordination/zookeeper_server.h"

namespace houtu::testing {
namespace {

using coordination::BlockingCoordination;
using coordination::SessionState;
using coordination::ZookeeperCoordination;

constexpr absl::Duration kSessionTimeout = absl::Seconds(6);

coordination::Post PostTo(EventLoop* loop) {
  return [loop](std::function<void()> function) { loop->Post(std::move(function)); };
}

class ZookeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = ZookeeperServer::WhyNotHere();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    auto server = ZookeeperServer::Start();
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
    RunOn(&loop_, [this] {
      auto session = ZookeeperCoordination::Start(
          {.servers = server_->address(), .root = "", .session_timeout = kSessionTimeout},
          PostTo(&loop_));
      ASSERT_TRUE(session.ok()) << session.status();
      session_ = std::move(session).value();
      subscription_ = session_->OnSessionState([this](SessionState state) { states_.Add(state); });
    });
    ASSERT_TRUE(Store().AwaitConnected().ok());
  }
  void TearDown() override {
    RunOn(&loop_, [this] {
      subscription_ = coordination::Subscription();
      session_.reset();
    });
  }

  BlockingCoordination Store() { return BlockingCoordination(session_.get(), absl::Seconds(20)); }

  std::unique_ptr<ZookeeperServer> server_;
  EventLoop loop_;
  std::unique_ptr<ZookeeperCoordination> session_;
  Recorder<SessionState> states_;
  coordination::Subscription subscription_;
};

TEST_F(ZookeeperTest, ASessionOutlivesARestartOfItsServer) {
  ASSERT_TRUE(Store().Create("/e", "x", {.ephemeral = true, .sequential = false}).ok());
  const int64_t session = session_->session_id();
  server_->Kill();
  ASSERT_TRUE(states_.AwaitLast(SessionState::kSuspended));
  ASSERT_TRUE(server_->Restart().ok());
  ASSERT_TRUE(states_.AwaitLast(SessionState::kConnected));
  EXPECT_EQ(session_->session_id(), session);
  EXPECT_EQ(Store().Get("/e")->stat.ephemeral_owner, session);
}

TEST_F(ZookeeperTest, AServerThatDoesNotAnswerSuspendsTheSession) {
  server_->Pause();
  EXPECT_TRUE(states_.AwaitLast(SessionState::kSuspended));
  server_->Resume();
  EXPECT_TRUE(states_.AwaitLast(SessionState::kConnected));
}

TEST(ZookeeperStartTest, RefusesOptionsThatCannotWork) {
  EventLoop loop;
  const auto code = [&](const ZookeeperCoordination::Options& options) {
    return ZookeeperCoordination::Start(options, PostTo(&loop)).status().code();
  };
  ZookeeperCoordination::Options options{.servers = "no port"};
  EXPECT_EQ(code(options), absl::StatusCode::kInvalidArgument);
  options.servers = "127.0.0.1:1";
  options.root = "houtu";
  EXPECT_EQ(code(options), absl::StatusCode::kInvalidArgument);
  options.root = "/houtu";
  options.record_bytes_max = coordination::kRecordBytesCeiling + 1;
  EXPECT_EQ(code(options), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace houtu::testing
