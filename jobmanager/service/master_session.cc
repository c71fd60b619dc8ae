#include "jobmanager/service/master_session.h"

#include <utility>

#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/leader_session.h"
#include "houtu/v1/job_master_service.grpc.pb.h"
#include "jobmanager/service/stale_term.h"

namespace houtu::jobmanager {

MasterSession::MasterSession(Options options, Callbacks callbacks)
    : options_(std::move(options)), callbacks_(std::move(callbacks)) {
  leader_ = std::make_unique<Session>(
      Session::Options{.loop = options_.loop,
                       .open = [this](const std::string& address,
                                      auto events) { return Open(address, std::move(events)); },
                       .on_open = [this] { SayHello(); },
                       .on_message = [this](auto message) { OnMessage(std::move(message)); },
                       .on_end = [this](const absl::Status& status) { return OnEnd(status); }});
  leader_->Follow(options_.coordination,
                  options_.paths.MasterElection(options_.context->datacenter));
}

MasterSession::~MasterSession() = default;

std::shared_ptr<MasterSession::Stream> MasterSession::Open(
    const std::string& address, StreamEvents<v1::JobMasterMessage> events) const {
  auto stub = std::make_shared<v1::JobMasterService::Stub>(options_.channels->Get(address));
  return Stream::Start(options_.loop, stub, std::move(events), [&](auto* context, auto* reactor) {
    stub->async()->Session(context, reactor);
  });
}

void MasterSession::SayHello() {
  v1::JobManagerMessage message;
  v1::ManagerHello* hello = message.mutable_hello();
  hello->set_job(options_.context->job.id());
  hello->set_datacenter(options_.context->datacenter);
  hello->set_term(options_.context->term);
  hello->set_token(options_.token);
  leader_->Send(std::move(message));
}

void MasterSession::Send(v1::JobManagerMessage message) {
  if (welcomed_) {
    leader_->Send(std::move(message));
  }
}

void MasterSession::OnMessage(v1::JobMasterMessage message) {
  switch (message.message_case()) {
    case v1::JobMasterMessage::kWelcome:
      welcomed_ = true;
      LogInfo("master session up", {{"master", leader_->address()}});
      callbacks_.tell(MasterConnected{std::move(*message.mutable_welcome())});
      break;
    case v1::JobMasterMessage::kGranted:
      callbacks_.tell(LeaseWasGranted{std::move(*message.mutable_granted())});
      break;
    case v1::JobMasterMessage::kRevoked:
      callbacks_.tell(LeaseWasRevoked{std::move(*message.mutable_revoked())});
      break;
    case v1::JobMasterMessage::kReasons:
      callbacks_.tell(DemandReasonsTold{std::move(*message.mutable_reasons())});
      break;
    case v1::JobMasterMessage::MESSAGE_NOT_SET:
      break;
  }
}

bool MasterSession::OnEnd(const absl::Status& status) {
  if (IsStaleTerm(status)) {
    callbacks_.on_stale(status);
    return false;
  }
  if (std::exchange(welcomed_, false)) {
    LogWarning("master session ended", {{"master", leader_->address()}, {"status", status}});
    callbacks_.tell(MasterDisconnected{status.ToString()});
  }
  return true;
}

}  // namespace houtu::jobmanager
