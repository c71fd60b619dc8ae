// MasterSession: the agent's stream to its datacenter's leading master, got back when it breaks or
// another master leads. The leader is found through ZooKeeper; a ZooKeeper session that expires is
// opened anew.
//
//   leader known ──> stream ──> MasterConnected … MasterSaid … MasterDisconnected ──pause──> stream
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "agent/core/events.h"
#include "agent/service/links.h"
#include "common/coordination/coordination.h"
#include "common/coordination/leader.h"
#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "houtu/v1/config.pb.h"

namespace houtu {
class ChannelPool;
template <typename Out, typename In>
class ClientStream;
}  // namespace houtu

namespace houtu::agent {

/// Owner: main. Thread: the loop's, the destructor's too.
class MasterSession final : public MasterLink {
 public:
  struct Options {
    EventLoop* loop = nullptr;
    ChannelPool* channels = nullptr;
    std::string datacenter;
    v1::ZooKeeper zookeeper;
    /// Where the session's events go.
    std::function<void(Event)> post;
  };
  explicit MasterSession(Options options) : options_(std::move(options)) {}
  ~MasterSession() override;

  /// Begins to look for the leader. Once.
  void Start() { OpenZooKeeper(); }

  void Send(v1::AgentMessage message) override;
  void Reconnect(const std::string& reason) override;

 private:
  using Stream = ClientStream<v1::AgentMessage, v1::MasterCommand>;

  /// Between attempts to get a session back; it doubles up to the second.
  static constexpr absl::Duration kPauseFirst = absl::Milliseconds(50);
  static constexpr absl::Duration kPauseMax = absl::Seconds(1);

  void OpenZooKeeper();
  void OnSessionState(coordination::SessionState state);
  void OnLeader(const std::optional<coordination::Leader>& leader);
  void Connect();
  void OnCommand(v1::MasterCommand command);
  void OnEnd(const absl::Status& status);
  absl::Duration NextPause();

  const Options options_;
  const RecordPaths paths_;
  std::unique_ptr<coordination::Coordination> zookeeper_;
  coordination::Subscription session_watch_;
  std::unique_ptr<coordination::LeaderWatch> leader_;
  std::string address_;  // of the leader last known; empty: none
  std::shared_ptr<Stream> stream_;
  absl::Duration pause_ = kPauseFirst;
  bool retry_set_ = false;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::agent
