// MasterSession: the agent's stream to its datacenter's leading master, got back when it breaks or
// another master leads. The leader is found through ZooKeeper; a ZooKeeper session that expires is
// opened anew.
//
//   leader known ──> stream ──> MasterConnected … MasterSaid … MasterDisconnected ──pause──> stream
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/core/events.h"
#include "agent/service/links.h"
#include "common/coordination/coordination.h"
#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "houtu/v1/config.pb.h"

namespace houtu {
class ChannelPool;
template <typename Out, typename In>
class ClientStream;
template <typename Out, typename In>
class LeaderSession;
template <typename In>
struct StreamEvents;
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
  explicit MasterSession(Options options);
  ~MasterSession() override;

  /// Begins to look for the leader. Once.
  void Start() { OpenZooKeeper(); }

  void Send(v1::AgentMessage message) override;
  void Reconnect(const std::string& reason) override;

 private:
  using Stream = ClientStream<v1::AgentMessage, v1::MasterCommand>;
  using Session = LeaderSession<v1::AgentMessage, v1::MasterCommand>;

  void OpenZooKeeper();
  void OnSessionState(coordination::SessionState state);
  std::shared_ptr<Stream> Open(const std::string& address,
                               StreamEvents<v1::MasterCommand> events) const;

  const Options options_;
  const RecordPaths paths_;
  std::unique_ptr<coordination::Coordination> zookeeper_;
  coordination::Subscription session_watch_;
  std::unique_ptr<Session> leader_;  // after what it follows
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::agent
