// Whose fault a failed Prepare is: the node's errors must not read like the image's.
#pragma once

#include "absl/status/status.h"

namespace houtu::agent {

/// OK and RESOURCE_EXHAUSTED as they are, all else as INTERNAL.
inline absl::Status NodesFault(const absl::Status& status) {
  if (status.ok() || absl::IsResourceExhausted(status)) return status;
  return absl::InternalError(status.message());
}

}  // namespace houtu::agent
