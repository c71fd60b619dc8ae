// TaskResult: from an agent's report of a success to what is recorded of it.
#pragma once

#include "absl/status/statusor.h"
#include "houtu/v1/record.pb.h"
#include "houtu/v1/task.pb.h"
#include "jobmanager/core/stage_table.h"

namespace houtu::jobmanager {

/// The bytes that one task of the stage may take of its chunk's record.
int64_t FinishedBytesMax(const StageFacts& stage);

/// INVALID_ARGUMENT: the task's outputs can't be taken, and nothing of them may be lost silently: a
/// file that no task of a shuffle reads (it and the allowed range are named), or more files than
/// its record holds.
absl::StatusOr<v1::FinishedTask> ResultOf(const StageTable& stages, TaskRef ref,
                                          const v1::TaskReport& report, const std::string& node,
                                          const std::string& agent_address);

}  // namespace houtu::jobmanager
