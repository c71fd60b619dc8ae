// Job files: read, checked and completed before anything is sent.
#pragma once

#include <string>
#include <vector>

#include "common/yaml/problem.h"
#include "houtu/v1/job.pb.h"

namespace houtu::client {

/// Reads FILE with the --set overrides and checks it. Every problem of the file at once; none:
/// `job` is the job as it is sent.
std::vector<yaml::Problem> LoadJobFile(const std::string& file,
                                       const std::vector<std::string>& overrides, v1::Job* job);

}  // namespace houtu::client
