#include "agent/service/request_names.h"

#include "agent/core/shapes.h"
#include "common/base/ids.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {

absl::Status CheckNames(const std::string& job, const std::string& stage) {
  if (!IsJobId(job)) {
    return Error(absl::StatusCode::kNotFound, "no job {} left anything here", LogValue(job));
  }
  if (!IsStageName(stage)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is no stage's name", LogValue(stage));
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
