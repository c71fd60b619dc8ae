#include "agent/service/master_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/time.h"
#include "common/coordination/zookeeper.h"
#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/stream.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"

namespace houtu::agent {
namespace {

/// Between ZooKeeper sessions.
constexpr absl::Duration kReopenPause = absl::Seconds(1);
constexpr char kDefaultRoot[] = "/houtu/v1";

}  // namespace

MasterSession::~MasterSession() {
  if (stream_ != nullptr) {
    stream_->Cancel();
  }
}

void MasterSession::OpenZooKeeper() {
  leader_.reset();
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
  leader_ = std::make_unique<coordination::LeaderWatch>(
      zookeeper_.get(), paths_.MasterElection(options_.datacenter),
      [this](const std::optional<coordination::Leader>& leader) { OnLeader(leader); });
}

void MasterSession::OnSessionState(coordination::SessionState state) {
  LogInfo("ZooKeeper session", {{"state", coordination::Name(state)}});
  if (state == coordination::SessionState::kExpired) {
    // Later: it can't be destroyed by its own call.
    options_.loop->PostAfter(kReopenPause, lifeline_.Guard([this] { OpenZooKeeper(); }));
  }
}

void MasterSession::OnLeader(const std::optional<coordination::Leader>& leader) {
  v1::Candidate candidate;
  if (!leader.has_value() || !candidate.ParseFromString(leader->candidate)) {
    return;  // the stream ends by itself when its master does
  }
  const bool same = candidate.address() == address_;
  address_ = candidate.address();
  pause_ = kPauseFirst;
  if (stream_ != nullptr && !same) {
    stream_->Cancel();  // OnEnd connects to the new one
  } else if (stream_ == nullptr) {
    Connect();
  }
}

void MasterSession::Connect() {
  if (address_.empty() || stream_ != nullptr) {
    return;
  }
  auto stub = std::make_shared<v1::AgentMasterService::Stub>(options_.channels->Get(address_));
  StreamEvents<v1::MasterCommand> events{
      .on_message =
          lifeline_.Guard([this](v1::MasterCommand command) { OnCommand(std::move(command)); }),
      .on_end = lifeline_.Guard([this](const absl::Status& status) { OnEnd(status); })};
  stream_ = Stream::Start(options_.loop, stub, std::move(events),
                          [&](grpc::ClientContext* context, auto* reactor) {
                            stub->async()->Session(context, reactor);
                          });
  options_.post(MasterConnected{});  // AgentCore answers with the registration
}

void MasterSession::OnCommand(v1::MasterCommand command) {
  pause_ = kPauseFirst;
  options_.post(MasterSaid{std::move(command)});
}

void MasterSession::OnEnd(const absl::Status& status) {
  LogInfo("master session ended", {{"master", address_}, {"status", status}});
  stream_.reset();
  options_.post(MasterDisconnected{});
  if (!std::exchange(retry_set_, true)) {
    options_.loop->PostAfter(NextPause(), lifeline_.Guard([this] {
      retry_set_ = false;
      Connect();
    }));
  }
}

absl::Duration MasterSession::NextPause() {
  const absl::Duration pause = pause_;
  pause_ = std::min(pause_ * 2, kPauseMax);
  return pause;
}

void MasterSession::Send(v1::AgentMessage message) {
  if (stream_ != nullptr) {
    stream_->Send(std::move(message));
  }
}

void MasterSession::Reconnect(const std::string& reason) {
  LogWarning("master session given up", {{"master", address_}, {"reason", reason}});
  if (stream_ != nullptr) {
    stream_->Cancel();
  }
}

}  // namespace houtu::agent
