#include "agent/service/task_service.h"

#include <openssl/sha.h>

#include <string>
#include <utility>

#include "common/rpc/caller.h"
#include "common/rpc/stream.h"

namespace houtu::agent {
namespace {

std::string Sha256(const std::string& bytes) {
  std::string sum(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(sum.data()));
  return sum;
}

}  // namespace

grpc::ServerBidiReactor<v1::TaskCommand, v1::TaskMessage>* TaskService::Session(
    grpc::CallbackServerContext* context) {
  const absl::Status allowed = RequireRole(*context, {Role::kManager}).status();
  std::shared_ptr<Stream> stream = Stream::Create(loop_);
  const std::weak_ptr<Stream> weak = stream;
  auto session = std::make_shared<SessionId>(0);
  stream->Begin({.on_message =
                     [this, weak, session, allowed](v1::TaskCommand command) {
                       const std::shared_ptr<Stream> self = weak.lock();
                       if (self == nullptr) {
                         return;
                       }
                       if (*session != 0) {
                         shell_->Post(ManagerSaid{*session, std::move(command)});
                       } else if (!allowed.ok()) {
                         self->Finish(allowed);
                       } else if (!command.has_hello()) {
                         self->Finish(
                             absl::InvalidArgumentError("a session begins with the hello"));
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
