// Raw inputs: from the files that a datacenter's nodes listed to one task for each file or piece of
// one. Pure.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "houtu/v1/job.pb.h"
#include "houtu/v1/job_master_service.pb.h"
#include "houtu/v1/task.pb.h"

namespace houtu::jobmanager {

/// Whether the path holds "*", "?" or "[" and so matches names.
bool IsPattern(std::string_view path);

/// The tasks' inputs, by path, then offset. A path that several nodes have with one size and one
/// time of change is one input that lies on all of them: its pieces go to those nodes in turn.
///
/// FAILED_PRECONDITION: nodes have different files under one path (they are named). NOT_FOUND: the
/// input is no pattern and no node has it. RESOURCE_EXHAUSTED: more pieces than kStageTasksMax.
absl::StatusOr<std::vector<v1::RawInput>> RawTasks(const v1::Input& input,
                                                   const v1::InputFiles& listed);

}  // namespace houtu::jobmanager
