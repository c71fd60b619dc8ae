#include "jobmanager/service/master_session.h"

#include <optional>
#include <utility>

#include "common/log/log.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/stream.h"
#include "houtu/v1/job_master_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/service/stale_term.h"

namespace houtu::jobmanager {

MasterSession::MasterSession(Options options, Callbacks callbacks)
    : options_(std::move(options)), callbacks_(std::move(callbacks)) {
  leader_ = std::make_unique<coordination::LeaderWatch>(
      options_.coordination, options_.paths.MasterElection(options_.context->datacenter),
      [this](const std::optional<coordination::Leader>& leader) { OnLeader(leader); });
}

MasterSession::~MasterSession() {
  if (stream_ != nullptr) {
    stream_->Cancel();
  }
}

void MasterSession::OnLeader(const std::optional<coordination::Leader>& leader) {
  v1::Candidate candidate;
  if (!leader.has_value() || !candidate.ParseFromString(leader->candidate)) {
    return;  // the session ends by itself when the master does
  }
  const bool same = candidate.address() == address_;
  address_ = candidate.address();
  reconnect_.Reset();
  if (stream_ != nullptr && !same) {
    stream_->Cancel();  // OnEnd connects to the new one
  } else if (stream_ == nullptr) {
    Connect();
  }
}

void MasterSession::Connect() {
  if (address_.empty() || stream_ != nullptr) {
    return;
  }
  auto stub = std::make_shared<v1::JobMasterService::Stub>(options_.channels->Get(address_));
  StreamEvents<v1::JobMasterMessage> events{
      .on_message =
          lifeline_.Guard([this](v1::JobMasterMessage message) { OnMessage(std::move(message)); }),
      .on_end = lifeline_.Guard([this](const absl::Status& status) { OnEnd(status); })};
  stream_ = Stream::Start(options_.loop, stub, std::move(events),
                          [&](grpc::ClientContext* context, auto* reactor) {
                            stub->async()->Session(context, reactor);
                          });
  v1::JobManagerMessage message;
  v1::ManagerHello* hello = message.mutable_hello();
  hello->set_job(options_.context->job.id());
  hello->set_datacenter(options_.context->datacenter);
  hello->set_term(options_.context->term);
  hello->set_token(options_.token);
  stream_->Send(std::move(message));
}

void MasterSession::Send(v1::JobManagerMessage message) {
  if (stream_ != nullptr && welcomed_) {
    stream_->Send(std::move(message));
  }
}

void MasterSession::OnMessage(v1::JobMasterMessage message) {
  switch (message.message_case()) {
    case v1::JobMasterMessage::kWelcome:
      welcomed_ = true;
      reconnect_.Reset();
      LogInfo("master session up", {{"master", address_}});
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

void MasterSession::OnEnd(const absl::Status& status) {
  stream_.reset();
  if (IsStaleTerm(status)) {
    callbacks_.on_stale(status);
    return;
  }
  if (std::exchange(welcomed_, false)) {
    LogWarning("master session ended", {{"master", address_}, {"status", status}});
    callbacks_.tell(MasterDisconnected{status.ToString()});
  }
  if (!std::exchange(retry_set_, true)) {
    options_.loop->PostAfter(reconnect_.Next(), lifeline_.Guard([this] {
      retry_set_ = false;
      Connect();
    }));
  }
}

}  // namespace houtu::jobmanager
