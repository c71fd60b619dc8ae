#include "common/rpc/call.h"

#include "absl/time/clock.h"

namespace houtu {

void SetDeadline(grpc::ClientContext* context, absl::Duration after) {
  context->set_deadline(absl::ToChronoTime(absl::Now() + after));
}

}  // namespace houtu
