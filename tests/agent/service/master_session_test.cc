// MasterSession against a real ZooKeeper and masters that only listen.
#include "agent/service/master_session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/check.h"
#include "common/coordination/election.h"
#include "common/coordination/zookeeper.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"
#include "tests/common/coordination/zookeeper_server.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu::agent {
namespace {

constexpr char kRoot[] = "/houtu/v1";

/// What another thread hands over, in order.
template <typename T>
class Mailbox {
 public:
  void Put(T item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    came_.notify_all();
  }
  T Take() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !items_.empty(); });
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<T> items_;
};

/// Answers each message with a heartbeat's echo of its own term.
class ListeningMaster : public v1::AgentMasterService::Service {
 public:
  explicit ListeningMaster(int64_t term) : term_(term) {}

  grpc::Status Session(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<v1::MasterCommand, v1::AgentMessage>* stream) override {
    v1::AgentMessage message;
    while (stream->Read(&message)) {
      v1::MasterCommand command;
      command.set_term(term_);
      command.mutable_heartbeat()->set_sequence(message.heartbeat().sequence());
      stream->Write(command);
    }
    return grpc::Status::OK;
  }

 private:
  const int64_t term_;
};

class MasterSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::ZookeeperServer::WhyNotHere(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    auto zookeeper = testing::ZookeeperServer::Start();
    HOUTU_CHECK(zookeeper.ok(), zookeeper.status().ToString());
    zookeeper_ = *std::move(zookeeper);
    v1::ZooKeeper config;
    config.add_servers(zookeeper_->address());
    config.set_root(kRoot);
    OnLoop([&] {
      session_ = std::make_unique<MasterSession>(
          MasterSession::Options{.loop = &loop_,
                                 .channels = &channels_,
                                 .datacenter = "dc1",
                                 .zookeeper = config,
                                 .post = [this](Event event) { events_.Put(std::move(event)); }});
      session_->Start();
    });
  }
  void TearDown() override {
    OnLoop([this] {
      session_.reset();
      election_.reset();
      candidates_session_.reset();
    });
    loop_.Stop();
  }

  template <typename Function>
  void OnLoop(Function function) {
    std::promise<void> done;
    loop_.Post([&] {
      function();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::unique_ptr<RpcServer> Serve(ListeningMaster* master,
                                   const std::string& address = "127.0.0.1:0") {
    auto server = RpcServer::Start(address, pki_.Issue("houtu:master/dc1"), {master});
    HOUTU_CHECK(server.ok(), server.status().ToString());
    return *std::move(server);
  }
  static std::string AddressOf(const RpcServer& server) {
    return fmt::format("127.0.0.1:{}", server.port());
  }
  /// From now on the master at this address leads dc1.
  void Elect(const std::string& address) {
    OnLoop([&] {
      election_.reset();
      candidates_session_.reset();
      auto opened = coordination::ZookeeperCoordination::Start(
          {.servers = zookeeper_->address(), .root = kRoot, .session_timeout = absl::Seconds(6)},
          [this](std::function<void()> f) { loop_.Post(std::move(f)); });
      HOUTU_CHECK(opened.ok(), opened.status().ToString());
      candidates_session_ = *std::move(opened);
      v1::Candidate candidate;
      candidate.set_address(address);
      election_ = std::make_unique<coordination::Election>(
          candidates_session_.get(),
          coordination::Election::Options{.path = RecordPaths().MasterElection("dc1"),
                                          .candidate = candidate.SerializeAsString()},
          coordination::Election::Callbacks{});
    });
  }
  /// As AgentCore does: the first message goes as soon as the session is there. Then the term of
  /// the master that answered.
  int64_t AwaitAnswer() {
    while (true) {
      const Event event = events_.Take();
      if (std::holds_alternative<MasterConnected>(event)) {
        v1::AgentMessage message;
        message.mutable_register_();
        loop_.Post([this, message] { session_->Send(message); });
      } else if (const auto* said = std::get_if<MasterSaid>(&event)) {
        return said->command.term();
      }
    }
  }
  void AwaitDisconnected() {
    while (!std::holds_alternative<MasterDisconnected>(events_.Take())) {
    }
  }

  TestPki pki_;
  std::unique_ptr<testing::ZookeeperServer> zookeeper_;
  ChannelPool channels_{pki_.Issue("houtu:agent/dc1/n1")};
  Mailbox<Event> events_;
  EventLoop loop_;
  std::unique_ptr<MasterSession> session_;
  std::unique_ptr<coordination::ZookeeperCoordination> candidates_session_;
  std::unique_ptr<coordination::Election> election_;
};

TEST_F(MasterSessionTest, FindsTheLeaderThatIsElectedLater) {
  ListeningMaster master(1);
  const auto server = Serve(&master);
  Elect(AddressOf(*server));
  EXPECT_EQ(AwaitAnswer(), 1);
}

TEST_F(MasterSessionTest, GoesOverToTheNextLeader) {
  ListeningMaster first(1);
  ListeningMaster second(2);
  const auto first_server = Serve(&first);
  const auto second_server = Serve(&second);
  Elect(AddressOf(*first_server));
  EXPECT_EQ(AwaitAnswer(), 1);
  Elect(AddressOf(*second_server));
  AwaitDisconnected();
  EXPECT_EQ(AwaitAnswer(), 2) << "although the first one still answers";
}

TEST_F(MasterSessionTest, ComesBackToALeaderThatWasAway) {
  ListeningMaster master(1);
  auto server = Serve(&master);
  const std::string address = AddressOf(*server);
  Elect(address);
  EXPECT_EQ(AwaitAnswer(), 1);
  server.reset();
  AwaitDisconnected();
  server = Serve(&master, address);
  EXPECT_EQ(AwaitAnswer(), 1);
}

TEST_F(MasterSessionTest, ASessionThatIsGivenUpIsOpenedAnew) {
  ListeningMaster master(1);
  const auto server = Serve(&master);
  Elect(AddressOf(*server));
  EXPECT_EQ(AwaitAnswer(), 1);
  loop_.Post([this] { session_->Reconnect("a test"); });
  AwaitDisconnected();
  EXPECT_EQ(AwaitAnswer(), 1);
}

TEST_F(MasterSessionTest, KeepsItsMasterWhileZooKeeperIsAway) {
  ListeningMaster master(1);
  const auto server = Serve(&master);
  Elect(AddressOf(*server));
  EXPECT_EQ(AwaitAnswer(), 1);
  zookeeper_->Kill();
  loop_.Post([this] { session_->Send({}); });
  EXPECT_EQ(AwaitAnswer(), 1);
  loop_.Post([this] { session_->Reconnect("a test"); });
  AwaitDisconnected();
  EXPECT_EQ(AwaitAnswer(), 1) << "the leader last known is tried";
}

}  // namespace
}  // namespace houtu::agent
