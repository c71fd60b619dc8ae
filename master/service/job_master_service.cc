#include "master/service/job_master_service.h"

#include <algorithm>
#include <memory>

#include "common/base/status.h"
#include "common/jobspec/limits.h"
#include "common/rpc/caller.h"
#include "common/rpc/stream.h"

namespace houtu::master {
namespace {

using Stream = ServerStream<v1::JobManagerMessage, v1::JobMasterMessage>;

struct Session {
  SessionId id = 0;
  std::string job;
};

/// What no job that was accepted can want would only upset the allocator's sums.
absl::Status CheckDesire(const v1::Desire& desire) {
  if (desire.demands_size() > jobspec::kStagesMax) {
    return Error(absl::StatusCode::kInvalidArgument, "{} demands, limit {}", desire.demands_size(),
                 jobspec::kStagesMax);
  }
  const auto in_range = [](int64_t amount, int64_t max) { return amount > 0 && amount <= max; };
  for (const v1::Demand& demand : desire.demands()) {
    const v1::Resources& shape = demand.resources();
    const bool custom_in_range =
        std::all_of(shape.custom().begin(), shape.custom().end(),
                    [&](const auto& kind) { return in_range(kind.second, jobspec::kCustomMax); });
    if (!in_range(shape.cpu_millis(), jobspec::kCpuMillisMax) ||
        !in_range(shape.memory_bytes(), jobspec::kMemoryBytesMax) || !custom_in_range ||
        demand.containers() < 0 || demand.containers() > jobspec::kTasksMax) {
      return Error(absl::StatusCode::kInvalidArgument, "a demand is out of range: {} of {}",
                   demand.containers(), shape.ShortDebugString());
    }
  }
  return absl::OkStatus();
}

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
               if (const absl::Status desire = CheckDesire(message.desire()); !desire.ok()) {
                 self->Finish(desire);
                 return;
               }
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
                         const absl::Status end = listed.status();
                         if (end.ok()) {
                           *response = *std::move(listed);
                         }
                         reactor->Finish(ToGrpc(end));
                       });
  });
  return reactor;
}

}  // namespace houtu::master
