#include "jobmanager/service/agent_sessions.h"

#include <utility>

#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/stream.h"
#include "houtu/v1/agent_service.grpc.pb.h"
#include "jobmanager/service/stale_term.h"

namespace houtu::jobmanager {

AgentSessions::AgentSessions(Options options, Callbacks callbacks)
    : options_(std::move(options)), callbacks_(std::move(callbacks)) {}

AgentSessions::~AgentSessions() {
  for (const auto& [node, session] : sessions_) {
    if (session.stream != nullptr) {
      session.stream->Cancel();
    }
  }
}

void AgentSessions::Open(const std::string& node, const std::string& address) {
  Close(node);
  sessions_[node].address = address;
  Connect(node);
}

void AgentSessions::Close(const std::string& node) {
  const auto it = sessions_.find(node);
  if (it == sessions_.end()) {
    return;
  }
  if (it->second.stream != nullptr) {
    it->second.stream->Cancel();
  }
  sessions_.erase(it);
}

void AgentSessions::Connect(const std::string& node) {
  Session& session = sessions_[node];
  session.number = next_number_++;
  const int64_t number = session.number;
  auto stub = std::make_shared<v1::AgentService::Stub>(options_.channels->Get(session.address));
  StreamEvents<v1::TaskMessage> events{
      .on_message = lifeline_.Guard([this, node, number](v1::TaskMessage message) {
        OnMessage(node, number, std::move(message));
      }),
      .on_end = lifeline_.Guard(
          [this, node, number](const absl::Status& status) { OnEnd(node, number, status); })};
  session.stream = Stream::Start(options_.loop, stub, std::move(events),
                                 [&](grpc::ClientContext* context, auto* reactor) {
                                   stub->async()->Session(context, reactor);
                                 });
  v1::TaskCommand command;
  v1::TaskHello* hello = command.mutable_hello();
  hello->set_job(options_.context->job.id());
  hello->set_datacenter(options_.context->datacenter);
  hello->set_term(options_.context->term);
  hello->set_token(options_.token);
  session.stream->Send(std::move(command));
}

AgentSessions::Session* AgentSessions::Find(const std::string& node, int64_t number) {
  const auto it = sessions_.find(node);
  return it != sessions_.end() && it->second.number == number ? &it->second : nullptr;
}

void AgentSessions::Send(const std::string& node, v1::TaskCommand command) {
  const auto it = sessions_.find(node);
  if (it != sessions_.end() && it->second.welcomed) {
    it->second.stream->Send(std::move(command));
  }
}

void AgentSessions::OnMessage(const std::string& node, int64_t number, v1::TaskMessage message) {
  Session* session = Find(node, number);
  if (session == nullptr) {
    return;
  }
  switch (message.message_case()) {
    case v1::TaskMessage::kWelcome:
      session->welcomed = true;
      session->reconnect.Reset();
      LogInfo("agent session up", {{"node", node}, {"tasks", message.welcome().tasks_size()}});
      callbacks_.tell(AgentConnected{node, std::move(*message.mutable_welcome())});
      break;
    case v1::TaskMessage::kReports:
      callbacks_.tell(TasksReported{node, std::move(*message.mutable_reports())});
      break;
    case v1::TaskMessage::kRefused:
      LogWarning("start refused", {{"node", node}, {"reason", message.refused().reason()}});
      callbacks_.tell(StartRefused{node, std::move(*message.mutable_refused())});
      break;
    case v1::TaskMessage::MESSAGE_NOT_SET:
      break;
  }
}

void AgentSessions::OnEnd(const std::string& node, int64_t number, const absl::Status& status) {
  Session* session = Find(node, number);
  if (session == nullptr) {
    return;
  }
  session->stream.reset();
  if (IsStaleTerm(status)) {
    callbacks_.on_stale(status);
    return;
  }
  const absl::Duration pause = session->reconnect.Next();
  options_.loop->PostAfter(pause, lifeline_.Guard([this, node, number] {
    if (Find(node, number) != nullptr) {
      Connect(node);
    }
  }));
  if (std::exchange(session->welcomed, false)) {
    LogWarning("agent session ended", {{"node", node}, {"status", status}});
    callbacks_.tell(AgentDisconnected{node, status.ToString()});
  } else {
    LogDebug("agent not reached", {{"node", node}, {"status", status}});
  }
}

}  // namespace houtu::jobmanager
