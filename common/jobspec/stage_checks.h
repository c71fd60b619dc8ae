// The checks of one stage by itself, and those between stages.
#pragma once

#include <string>

#include "common/jobspec/report.h"
#include "houtu/v1/job.pb.h"

namespace houtu::jobspec {

/// One stage, at path "stages[i]": everything that the stage alone tells. `job` gives the
/// datacenters.
void CheckStage(const v1::Job& job, const v1::Stage& stage, const std::string& path,
                Report* report);

/// Names used twice (C07), unknown stages, circles (C06), exchanges against numbers of tasks, and
/// the sum of all tasks.
void CheckGraph(const v1::Job& job, Report* report);

/// Environment variables at `path`.
void CheckVariables(const google::protobuf::Map<std::string, std::string>& variables,
                    const std::string& path, Report* report);

/// A retry policy at `path`.
void CheckRetry(const v1::RetryPolicy& retry, const std::string& path, Report* report);

}  // namespace houtu::jobspec
