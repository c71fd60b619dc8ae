// absl::Status to grpc::Status and back: the codes are the same numbers.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace houtu {

grpc::Status ToGrpc(const absl::Status& status);
/// A broken connection is UNAVAILABLE, however gRPC tells it.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace houtu
