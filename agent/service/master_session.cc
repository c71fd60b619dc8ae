#include "agent/service/master_session.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/time.h"
#include "common/coordination/zookeeper.h"
#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/leader_session.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"

namespace houtu::agent {
namespace {

/// Between ZooKeeper sessions.
constexpr absl::Duration kReopenPause = absl::Seconds(1);
constexpr char kDefaultRoot[] = "/houtu/v1";

}  // namespace

MasterSession::MasterSession(Options options) : options_(std::move(options)) {
  leader_ = std::make_unique<Session>(Session::Options{
      .loop = options_.loop,
      .open = [this](const std::string& address,
                     auto events) { return Open(address, std::move(events)); },
      .on_open = [this] { options_.post(MasterConnected{}); },  // AgentCore registers itself
      .on_message = [this](auto command) { options_.post(MasterSaid{std::move(command)}); },
      .on_end =
          [this](const absl::Status& status) {
            LogInfo("master session ended", {{"master", leader_->address()}, {"status", status}});
            options_.post(MasterDisconnected{});
            return true;
          }});
}

MasterSession::~MasterSession() = default;

std::shared_ptr<MasterSession::Stream> MasterSession::Open(
    const std::string& address, StreamEvents<v1::MasterCommand> events) const {
  auto stub = std::make_shared<v1::AgentMasterService::Stub>(options_.channels->Get(address));
  return Stream::Start(options_.loop, stub, std::move(events), [&](auto* context, auto* reactor) {
    stub->async()->Session(context, reactor);
  });
}

void MasterSession::OpenZooKeeper() {
  leader_->Unfollow();
  session_watch_ = {};
  zookeeper_.reset();
  const v1::ZooKeeper& config = options_.zookeeper;
  absl::StatusOr<std::unique_ptr<coordination::ZookeeperCoordination>> opened =
      coordination::ZookeeperCoordination::Start(
          {.servers = absl::StrJoin(config.servers(), ","),
           .root = config.root().empty() ? kDefaultRoot : config.root(),
           .session_timeout = DurationOr(config.has_session_timeout(), config.session_timeout(),
                                         absl::Seconds(6))},
          [loop = options_.loop](std::function<void()> f) { loop->Post(std::move(f)); });
  if (!opened.ok()) {
    LogError("ZooKeeper session can't be opened", {{"status", opened.status()}});
    options_.loop->PostAfter(kReopenPause, lifeline_.Guard([this] { OpenZooKeeper(); }));
    return;
  }
  zookeeper_ = *std::move(opened);
  session_watch_ = zookeeper_->OnSessionState(
      [this](coordination::SessionState state) { OnSessionState(state); });
  leader_->Follow(zookeeper_.get(), paths_.MasterElection(options_.datacenter));
}

void MasterSession::OnSessionState(coordination::SessionState state) {
  LogInfo("ZooKeeper session", {{"state", coordination::Name(state)}});
  if (state == coordination::SessionState::kExpired) {
    // Later: it can't be destroyed by its own call.
    options_.loop->PostAfter(kReopenPause, lifeline_.Guard([this] { OpenZooKeeper(); }));
  }
}

void MasterSession::Send(v1::AgentMessage message) { leader_->Send(std::move(message)); }

void MasterSession::Reconnect(const std::string& reason) {
  LogWarning("master session given up", {{"master", leader_->address()}, {"reason", reason}});
  leader_->Reopen();
}

}  // namespace houtu::agent
