// TaskService: job managers' sessions. A caller must be a job manager by its certificate and show
// its job's token; which job and term may command, AgentCore decides.
#pragma once

#include <map>
#include <memory>

#include "agent/service/agent_shell.h"
#include "agent/service/links.h"
#include "common/loop/event_loop.h"
#include "houtu/v1/agent_service.grpc.pb.h"

namespace houtu {
template <typename In, typename Out>
class ServerStream;
}  // namespace houtu

namespace houtu::agent {

/// Owner: main; outlives the server and the loop's work. Session comes on gRPC's threads, all else
/// on the loop's.
class TaskService final : public v1::AgentService::CallbackService, public ManagerLinks {
 public:
  TaskService(EventLoop* loop, AgentShell* shell) : loop_(loop), shell_(shell) {}

  grpc::ServerBidiReactor<v1::TaskCommand, v1::TaskMessage>* Session(
      grpc::CallbackServerContext* context) override;

  void Send(SessionId session, v1::TaskMessage message) override;
  void Close(SessionId session, const absl::Status& status) override;

 private:
  using Stream = ServerStream<v1::TaskCommand, v1::TaskMessage>;

  /// Numbers the session and hands its hello to the core.
  SessionId Begin(const std::shared_ptr<Stream>& stream, const v1::TaskHello& hello);
  void End(SessionId session);

  EventLoop* const loop_;
  AgentShell* const shell_;
  SessionId last_ = 0;
  std::map<SessionId, std::shared_ptr<Stream>> streams_;
};

}  // namespace houtu::agent
