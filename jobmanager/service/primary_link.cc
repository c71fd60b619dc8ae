#include "jobmanager/service/primary_link.h"

#include <utility>

#include "common/log/log.h"
#include "common/rpc/call.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/peer_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/service/roles.h"

namespace houtu::jobmanager {

PrimaryLink::PrimaryLink(Options options) : options_(std::move(options)) {
  primary_ = std::make_unique<coordination::DataWatch>(
      options_.coordination,
      options_.paths.Manager(options_.context->job.id(), PrimaryDatacenter(options_.context->job)),
      [this](const std::optional<coordination::Node>& node) {
        v1::ManagerRecord record;
        if (node.has_value() && record.ParseFromString(node->data)) {
          address_ = record.address();
          SendNext();
        }
      });
}

void PrimaryLink::Report(v1::SubJobReport report) {
  report.set_token(options_.token);
  if (waiting_.has_value()) {
    // Losses are told once: they must not go with a report that was never sent.
    report.mutable_lost()->MergeFrom(waiting_->lost());
  }
  waiting_ = std::move(report);
  SendNext();
}

void PrimaryLink::SendNext() {
  if (under_way_ || !waiting_.has_value() || address_.empty()) {
    return;
  }
  under_way_ = true;
  v1::SubJobReport report = *std::exchange(waiting_, std::nullopt);
  auto stub = std::make_shared<v1::PeerService::Stub>(options_.channels->Get(address_));
  CallOnLoop<v1::SubJobReportResponse>(
      options_.loop, stub, report,
      [&](auto* context, auto* sent, auto* answer, auto done) {
        stub->async()->ReportSubJob(context, sent, answer, std::move(done));
      },
      lifeline_.Guard(
          [this, report](const absl::Status& status, v1::SubJobReportResponse& /*answer*/) {
            OnAnswer(report, status);
          }));
}

void PrimaryLink::OnAnswer(v1::SubJobReport report, const absl::Status& status) {
  under_way_ = false;
  if (status.ok()) {
    reconnect_.Reset();
    SendNext();
    return;
  }
  LogDebug("primary not reached", {{"address", address_}, {"status", status}});
  if (waiting_.has_value()) {
    waiting_->mutable_lost()->MergeFrom(report.lost());
  } else {
    waiting_ = std::move(report);
  }
  options_.loop->PostAfter(reconnect_.Next(), lifeline_.Guard([this] { SendNext(); }));
}

}  // namespace houtu::jobmanager
