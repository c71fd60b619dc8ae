// Listings that come in pages, whole.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/net/masters.h"
#include "houtu/v1/client_service.pb.h"

namespace houtu::client {

/// Every task of the job, or of one stage where `stage` is not empty. Error codes: Masters'.
absl::StatusOr<std::vector<v1::TaskStatus>> AllTasks(Masters* masters, const std::string& job,
                                                     const std::string& stage);

/// Every output file, in one response. Error codes: Masters'.
absl::StatusOr<v1::ListOutputsResponse> AllOutputs(Masters* masters, const std::string& job,
                                                   const std::string& stage);

}  // namespace houtu::client
