#include "common/rpc/status.h"

#include "common/base/status.h"

namespace houtu {
namespace {

// What gRPC's transport says of a call whose connection broke in certain ways (its bytes damaged,
// say): not the peer's word, and no fault of the call's.
constexpr char kStreamRemoved[] = "Stream removed";

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  return status.ok() ? grpc::Status::OK
                     : grpc::Status(static_cast<grpc::StatusCode>(status.code()), Message(status));
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  const bool went_away =
      status.error_code() == grpc::StatusCode::UNKNOWN && status.error_message() == kStreamRemoved;
  return absl::Status(went_away ? absl::StatusCode::kUnavailable
                                : static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace houtu
