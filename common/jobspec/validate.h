// What makes a job valid, beyond its schema. Pure; the client runs it on a job file, with places,
// and the master again on what came over the wire, where nothing can be taken for granted.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/yaml/problem.h"
#include "common/yaml/source_map.h"
#include "houtu/v1/job.pb.h"

namespace houtu::jobspec {

/// Every problem of `job`, as written or canonical, in the order of the file; none: it can be
/// carried out as far as the job alone tells. `places` (of the job's file, may be nullptr) adds
/// lines and columns. A job beyond kJobBytesMax, or without stages, has that one problem alone.
std::vector<yaml::Problem> Validate(const v1::Job& job, const yaml::SourceMap* places = nullptr);

/// Validate's problems as INVALID_ARGUMENT, one a line: "job: stages[0].command: ...".
absl::Status CheckJob(const v1::Job& job);

}  // namespace houtu::jobspec
