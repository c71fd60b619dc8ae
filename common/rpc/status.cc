#include "common/rpc/status.h"

#include "common/base/status.h"

namespace houtu {

grpc::Status ToGrpc(const absl::Status& status) {
  return status.ok() ? grpc::Status::OK
                     : grpc::Status(static_cast<grpc::StatusCode>(status.code()), Message(status));
}

absl::Status FromGrpc(const grpc::Status& status) {
  return status.ok() ? absl::OkStatus()
                     : absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                                    status.error_message());
}

}  // namespace houtu
