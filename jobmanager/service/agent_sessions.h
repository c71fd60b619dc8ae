// AgentSessions: a session with each agent that holds leases of this manager.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/rpc/reconnect.h"
#include "houtu/v1/agent_service.pb.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/job_context.h"

namespace houtu {
class ChannelPool;
template <typename Out, typename In>
class ClientStream;
}  // namespace houtu

namespace houtu::jobmanager {

/// Owner: the shell. Thread: the loop's. A session that breaks is got back until Close.
class AgentSessions {
 public:
  struct Callbacks {
    std::function<void(Event)> tell;
    /// A manager with a higher term took over.
    std::function<void(absl::Status)> on_stale;
  };
  struct Options {
    EventLoop* loop = nullptr;
    ChannelPool* channels = nullptr;
    const JobContext* context = nullptr;
    std::string token;
  };
  AgentSessions(Options options, Callbacks callbacks);
  ~AgentSessions();

  void Open(const std::string& node, const std::string& address);
  void Close(const std::string& node);
  /// Dropped unless the agent has said welcome.
  void Send(const std::string& node, v1::TaskCommand command);

 private:
  using Stream = ClientStream<v1::TaskCommand, v1::TaskMessage>;
  struct Session {
    std::string address;
    int64_t number = 0;  // of the present connection: what comes of an older one is dropped
    std::shared_ptr<Stream> stream;
    bool welcomed = false;
    Reconnect reconnect;
  };

  void Connect(const std::string& node);
  Session* Find(const std::string& node, int64_t number);
  void OnMessage(const std::string& node, int64_t number, v1::TaskMessage message);
  void OnEnd(const std::string& node, int64_t number, const absl::Status& status);

  const Options options_;
  const Callbacks callbacks_;
  std::map<std::string, Session> sessions_;
  int64_t next_number_ = 1;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::jobmanager
