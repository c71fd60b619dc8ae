#include "agent/partitions/stream_retry.h"

namespace houtu::agent {

absl::Status RetryStream(const StreamRetry& retry, const std::function<absl::Status()>& attempt) {
  absl::Duration pause = retry.pause;
  for (int tries = 1;; ++tries) {
    absl::Status status = attempt();
    const bool again = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
                       absl::IsCancelled(status);
    if (!again || tries == kStreamTriesMax) {
      return status;
    }
    retry.sleep(pause);
    pause *= 2;
  }
}

}  // namespace houtu::agent
