#include "common/base/check.h"
#include "common/base/status.h"
#include "common/coordination/zookeeper.h"
#include "tests/common/coordination/store_under_test.h"
#include "tests/common/coordination/tcp_proxy.h"
#include "tests/common/coordination/zookeeper_server.h"

namespace houtu::testing {
namespace {

using coordination::Coordination;
using coordination::ZookeeperCoordination;

// Longer than any break of the connection in the suite: there sessions end by Expire alone.
constexpr absl::Duration kSessionTimeout = absl::Seconds(6);

// One server for all tests of the program; each test has a root of its own.
absl::StatusOr<std::unique_ptr<ZookeeperServer>>& SharedServer() {
  static auto server = ZookeeperServer::Start();
  return server;
}

template <typename T>
T MustHave(absl::StatusOr<T> value) {
  HOUTU_CHECK(value.ok(), value.status().ToString());
  return std::move(value).value();
}

class ZookeeperSession final : public SessionUnderTest {
 public:
  ZookeeperSession(const ZookeeperServer& server, const std::string& root, EventLoop* loop)
      : server_(server), loop_(loop), proxy_(MustHave(TcpProxy::Start(server.port()))) {
    const ZookeeperCoordination::Options options{
        .servers = fmt::format("127.0.0.1:{}", proxy_->port()),
        .root = root,
        .session_timeout = kSessionTimeout};
    RunOn(loop_, [this, &options] {
      session_ = MustHave(ZookeeperCoordination::Start(
          options, [loop = loop_](std::function<void()> f) { loop->Post(std::move(f)); }));
    });
  }
  ~ZookeeperSession() override {
    RunOn(loop_, [this] { session_.reset(); });
  }

  Coordination* coordination() override { return session_.get(); }
  void Disconnect() override {
    cut_ = true;
    proxy_->Cut();
  }
  void Reconnect() override {
    cut_ = false;
    proxy_->Heal();
  }
  void LoseNextAnswer() override { proxy_->DropAnswers(); }
  void Expire() override {
    // Cut off meanwhile: it would take its session back.
    proxy_->Cut();
    const absl::Status status = ExpireZookeeperSession(server_.address(), session_->session_id(),
                                                       session_->session_password());
    HOUTU_CHECK(status.ok(), status.ToString());
    if (!cut_) proxy_->Heal();
  }

 private:
  const ZookeeperServer& server_;
  EventLoop* const loop_;
  const std::unique_ptr<TcpProxy> proxy_;
  bool cut_ = false;
  std::unique_ptr<ZookeeperCoordination> session_;
};

class ZookeeperStoreUnderTest final : public StoreUnderTest {
 public:
  ZookeeperStoreUnderTest(const ZookeeperServer& server, std::string root)
      : server_(server), root_(std::move(root)) {}

  std::unique_ptr<SessionUnderTest> Open(EventLoop* loop) override {
    return std::make_unique<ZookeeperSession>(server_, root_, loop);
  }

 private:
  const ZookeeperServer& server_;
  const std::string root_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> StoreUnderTest::Make(std::string* why_not) {
  *why_not = ZookeeperServer::WhyNotHere();
  if (!why_not->empty()) return nullptr;
  static int tests = 0;
  HOUTU_CHECK(SharedServer().ok(), SharedServer().status().ToString());
  return std::make_unique<ZookeeperStoreUnderTest>(**SharedServer(),
                                                   fmt::format("/contract/test{}", ++tests));
}

}  // namespace houtu::testing
