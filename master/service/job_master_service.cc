#include "master/service/job_master_service.h"

#include <memory>

#include "common/base/status.h"
#include "common/rpc/caller.h"
#include "common/rpc/stream.h"

namespace houtu::master {
namespace {

using Stream = ServerStream<v1::JobManagerMessage, v1::JobMasterMessage>;

struct Session {
  SessionId id = 0;
  std::string job;
};

absl::Status CheckHello(const Identity& caller, const std::string& datacenter,
                        const v1::JobManagerMessage& message) {
  if (!message.has_hello()) {
    return Error(absl::StatusCode::kInvalidArgument, "a session begins with the hello");
  }
  if (caller.datacenter != datacenter || message.hello().datacenter() != datacenter) {
    return Error(absl::StatusCode::kPermissionDenied, "{} is not of this datacenter, {}",
                 Describe(caller), datacenter);
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerBidiReactor<v1::JobManagerMessage, v1::JobMasterMessage>*
JobMasterServiceShell::Session(grpc::CallbackServerContext* context) {
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kManager});
  std::shared_ptr<Stream> stream = Stream::Create(loop_);
  const std::weak_ptr<Stream> weak = stream;
  auto session = std::make_shared<struct Session>();
  stream->Begin(
      {.on_message =
           [this, weak, session, caller](const v1::JobManagerMessage& message) {
             const std::shared_ptr<Stream> self = weak.lock();
             if (self == nullptr) {
               return;
             }
             if (session->id != 0) {
               shell_->OnManagerMessage(session->id, session->job, message);
               return;
             }
             absl::Status status = caller.status();
             if (status.ok()) {
               status = CheckHello(*caller, datacenter_, message);
             }
             if (status.ok()) {
               status = shell_->CheckToken(message.hello().job(), message.hello().token());
             }
             if (!status.ok()) {
               self->Finish(status);
               return;
             }
             session->id = shell_->NewSession();
             session->job = message.hello().job();
             shell_->OnManagerConnected(
                 session->id, session->job, message.hello().term(),
                 {.send = [self](v1::JobMasterMessage out) { self->Send(std::move(out)); },
                  .finish = [self](const absl::Status& end) { self->Finish(end); }});
           },
       .on_end =
           [this, session](const absl::Status&) {
             if (session->id != 0) {
               shell_->OnManagerGone(session->id, session->job);
             }
           }});
  if (!caller.ok()) {
    stream->Finish(caller.status());
  }
  return stream.get();
}

grpc::ServerUnaryReactor* JobMasterServiceShell::ListInputs(grpc::CallbackServerContext* context,
                                                            const v1::ListInputsRequest* request,
                                                            v1::ListInputsResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::Status caller = RequireRole(*context, {Role::kManager}).status();
  loop_->Post([this, reactor, request, response, caller] {
    absl::Status status = caller;
    if (status.ok()) {
      status = shell_->CheckToken(request->job(), request->token());
    }
    if (!status.ok()) {
      reactor->Finish(ToGrpc(status));
      return;
    }
    shell_->ListInputs(*request,
                       [reactor, response](absl::StatusOr<v1::ListInputsResponse> listed) {
                         if (listed.ok()) {
                           *response = *std::move(listed);
                         }
                         reactor->Finish(ToGrpc(listed.status()));
                       });
  });
  return reactor;
}

}  // namespace houtu::master
