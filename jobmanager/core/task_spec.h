// TaskSpec: everything that an agent needs to run one attempt.
#pragma once

#include <string>

#include "houtu/v1/task.pb.h"
#include "jobmanager/core/container_shape.h"
#include "jobmanager/core/job_context.h"
#include "jobmanager/core/stage_table.h"

namespace houtu::jobmanager {

v1::AttemptId IdOf(const JobContext& context, const StageTable& stages, const AttemptRef& attempt);

/// Precondition: stages.InputsReady(attempt.task). `input`: null if the task has no raw input.
v1::TaskSpec BuildTaskSpec(const JobContext& context, const StageTable& stages,
                           const AttemptRef& attempt, const std::string& lease,
                           const ContainerShape& shape, const v1::RawInput* input);

/// Bytes that a finished task left under the number; -1: it left nothing there.
int64_t NumberedSize(const v1::FinishedTask& task, int number);
/// Bytes of all that it left.
int64_t OutputBytes(const v1::FinishedTask& task);

/// The partitions of a whole stage, grouped by the nodes that hold them, every file.
std::vector<v1::PartitionSource> StageSources(const StageTable& stages, int stage);

}  // namespace houtu::jobmanager
