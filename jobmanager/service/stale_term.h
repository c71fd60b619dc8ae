// StaleTerm: how a peer says that a newer manager of the same job and datacenter was heard.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace houtu::jobmanager {

/// FAILED_PRECONDITION "stale term 3, the newest is 4": this process must end.
inline bool IsStaleTerm(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) && absl::StrContains(status.message(), "stale term");
}

}  // namespace houtu::jobmanager
