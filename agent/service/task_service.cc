#include "agent/service/task_service.h"

#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/status.h"
#include "common/log/log.h"
#include "common/rpc/caller.h"
#include "common/rpc/stream.h"

namespace houtu::agent {
namespace {

/// What is decided by certificate and form alone; token, job and term are AgentCore's.
absl::Status CheckHello(const absl::StatusOr<Identity>& caller, const v1::TaskCommand& first) {
  HOUTU_RETURN_IF_ERROR(caller.status());
  if (!first.has_hello()) {
    return absl::InvalidArgumentError("a session begins with the hello");
  }
  if (first.hello().datacenter() != caller->datacenter) {
    return Error(absl::StatusCode::kPermissionDenied, "{} may not speak for datacenter {}",
                 Describe(*caller), LogValue(first.hello().datacenter()));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerBidiReactor<v1::TaskCommand, v1::TaskMessage>* TaskService::Session(
    grpc::CallbackServerContext* context) {
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kManager});
  std::shared_ptr<Stream> stream = Stream::Create(loop_);
  const std::weak_ptr<Stream> weak = stream;
  auto session = std::make_shared<SessionId>(0);
  stream->Begin({.on_message =
                     [this, weak, session, caller](v1::TaskCommand command) {
                       const std::shared_ptr<Stream> self = weak.lock();
                       if (self == nullptr) {
                         return;
                       }
                       if (*session != 0) {
                         shell_->Post(ManagerSaid{*session, std::move(command)});
                       } else if (absl::Status allowed = CheckHello(caller, command);
                                  !allowed.ok()) {
                         self->Finish(allowed);
                       } else {
                         *session = Begin(self, command.hello());
                       }
                     },
                 .on_end =
                     [this, session](const absl::Status&) {
                       if (*session != 0) {
                         End(*session);
                       }
                     }});
  return stream.get();
}

SessionId TaskService::Begin(const std::shared_ptr<Stream>& stream, const v1::TaskHello& hello) {
  const SessionId session = ++last_;
  streams_[session] = stream;
  shell_->Post(ManagerHello{.session = session,
                            .job = hello.job(),
                            .datacenter = hello.datacenter(),
                            .term = hello.term(),
                            .token_sha256 = Sha256(hello.token())});
  return session;
}

void TaskService::End(SessionId session) {
  if (streams_.erase(session) > 0) {
    shell_->Post(ManagerGone{session});
  }
}

void TaskService::Send(SessionId session, v1::TaskMessage message) {
  if (const auto stream = streams_.find(session); stream != streams_.end()) {
    stream->second->Send(std::move(message));
  }
}

void TaskService::Close(SessionId session, const absl::Status& status) {
  if (const auto stream = streams_.find(session); stream != streams_.end()) {
    stream->second->Finish(status);
    streams_.erase(stream);
  }
}

}  // namespace houtu::agent
