#include "master/service/agent_master_service.h"

#include <algorithm>
#include <memory>

#include "common/base/status.h"
#include "common/rpc/caller.h"
#include "common/rpc/stream.h"

namespace houtu::master {
namespace {

using Stream = ServerStream<v1::AgentMessage, v1::MasterCommand>;

/// What one session knows of itself. On the loop's thread.
struct Session {
  SessionId id = 0;
  std::string node;
};

/// The most of one kind that a node may have: sums over thousands of nodes fit 64 bits.
constexpr int64_t kNodeAmountMax = int64_t{1} << 50;

bool IsAmount(const v1::Resources& resources) {
  const auto in_range = [](int64_t amount) { return amount >= 0 && amount <= kNodeAmountMax; };
  return in_range(resources.cpu_millis()) && in_range(resources.memory_bytes()) &&
         std::all_of(resources.custom().begin(), resources.custom().end(),
                     [&](const auto& kind) { return in_range(kind.second); });
}

absl::Status CheckRegistration(const Identity& caller, const std::string& datacenter,
                               const v1::AgentMessage& message) {
  if (!message.has_register_()) {
    return Error(absl::StatusCode::kInvalidArgument, "a session begins with the registration");
  }
  const v1::Node& node = message.register_().node();
  if (caller.datacenter != datacenter || node.datacenter() != datacenter) {
    return Error(absl::StatusCode::kPermissionDenied, "{} is not of this datacenter, {}",
                 Describe(caller), datacenter);
  }
  if (node.name() != caller.node) {
    return Error(absl::StatusCode::kPermissionDenied, "{} may not register node {}",
                 Describe(caller), node.name());
  }
  if (!IsAmount(node.capacity())) {
    return Error(absl::StatusCode::kInvalidArgument, "the node's capacity is out of range: {}",
                 node.capacity().ShortDebugString());
  }
  for (const v1::LeaseReport& report : message.register_().leases()) {
    if (report.lease().node() != node.name() || !IsAmount(report.lease().resources())) {
      return Error(absl::StatusCode::kInvalidArgument, "lease {} is not one of this node",
                   report.lease().id());
    }
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::MasterCommand>* AgentMasterServiceShell::Session(
    grpc::CallbackServerContext* context) {
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kAgent});
  std::shared_ptr<Stream> stream = Stream::Create(loop_);
  const std::weak_ptr<Stream> weak = stream;
  auto session = std::make_shared<struct Session>();
  stream->Begin(
      {.on_message =
           [this, weak, session, caller](const v1::AgentMessage& message) {
             const std::shared_ptr<Stream> self = weak.lock();
             if (self == nullptr) {
               return;
             }
             if (session->id != 0) {
               shell_->OnAgentMessage(session->id, session->node, message);
               return;
             }
             absl::Status status = caller.status();
             status.Update(shell_->CheckLeading());
             if (status.ok()) {
               status = CheckRegistration(*caller, datacenter_, message);
             }
             if (!status.ok()) {
               self->Finish(status);
               return;
             }
             session->id = shell_->NewSession();
             session->node = caller->node;
             shell_->OnAgentRegistered(
                 session->id, message.register_(),
                 {.send = [self](v1::MasterCommand command) { self->Send(std::move(command)); },
                  .finish = [self](const absl::Status& end) { self->Finish(end); }});
           },
       .on_end =
           [this, session](const absl::Status&) {
             if (session->id != 0) {
               shell_->OnAgentGone(session->id, session->node);
             }
           }});
  if (!caller.ok()) {
    stream->Finish(caller.status());
  }
  return stream.get();
}

}  // namespace houtu::master
