#include "jobmanager/core/task_result.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "common/base/status.h"
#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

constexpr int kNotNumbered = -1;

// "0", "17": a number as it is written canonically; "007" and "x" are names.
int NumberOf(const std::string& name) {
  int number = 0;
  if (name.empty() || name.size() > 6 ||
      !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    return kNotNumbered;
  }
  return absl::SimpleAtoi(name, &number) && std::to_string(number) == name ? number : kNotNumbered;
}

absl::Status CheckShuffled(const StageTable& stages, int stage, int width,
                           const v1::Partition& partition) {
  const int number = NumberOf(partition.name());
  if (number != kNotNumbered && (width < 0 || number < width)) {
    return absl::OkStatus();
  }
  if (width == 0) {
    return Error(
        absl::StatusCode::kInvalidArgument,
        "output file \"{}\": the stages that shuffle {} have no tasks, so nothing reads it",
        partition.name(), stages.name(stage));
  }
  const std::string range = width < 0 ? "0, 1, …" : fmt::format("0 to {}", width - 1);
  return Error(absl::StatusCode::kInvalidArgument,
               "output file \"{}\": a shuffle reads only files named {}; write those, or read this "
               "stage with exchange gather, one_to_one or broadcast",
               partition.name(), range);
}

void AddPartition(const v1::Partition& partition, int width, v1::FinishedTask* task) {
  const int number = NumberOf(partition.name());
  if (number == kNotNumbered || number >= (width < 0 ? kStageTasksMax : width)) {
    *task->add_named() = partition;
    return;
  }
  while (task->numbered_size_plus_one_size() <= number) {
    task->add_numbered_size_plus_one(0);
  }
  task->set_numbered_size_plus_one(number, partition.size_bytes() + 1);
}

int64_t Millis(const google::protobuf::Timestamp& at) {
  return at.seconds() * 1000 + at.nanos() / 1'000'000;
}

void AddFigures(const v1::TaskReport& report, v1::FinishedTask* task) {
  task->set_started_at_ms(Millis(report.started_at()));
  task->set_ended_at_ms(Millis(report.ended_at()));
  task->set_cpu_used_ms(report.cpu_used_ms());
  task->set_memory_peak_bytes(report.memory_peak_bytes());
  *task->mutable_input_bytes() = report.input_bytes_from_datacenter();
  if (report.input_local_bytes() > 0) {
    (*task->mutable_input_bytes())[""] = report.input_local_bytes();
  }
}

}  // namespace

int64_t FinishedBytesMax(const StageFacts& stage) {
  const int in_chunk = std::min(stage.record.tasks_per_chunk(), stage.tasks());
  return kRecordBytesMax / std::max(1, in_chunk);
}

absl::StatusOr<v1::FinishedTask> ResultOf(const StageTable& stages, TaskRef ref,
                                          const v1::TaskReport& report, const std::string& node,
                                          const std::string& agent_address) {
  const int width = stages.ShuffleWidth(ref.stage);
  const bool only_shuffled = stages.OnlyShuffled(ref.stage);
  v1::FinishedTask task;
  task.set_task(ref.task);
  task.set_attempt(report.id().attempt());
  task.set_node(node);
  task.set_agent_address(agent_address);
  for (const v1::Partition& partition : report.partitions()) {
    if (only_shuffled) {
      HOUTU_RETURN_IF_ERROR(CheckShuffled(stages, ref.stage, width, partition));
    }
    AddPartition(partition, width, &task);
  }
  AddFigures(report, &task);
  const int64_t limit = FinishedBytesMax(stages.at(ref.stage));
  if (static_cast<int64_t>(task.ByteSizeLong()) > limit) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} output files: their names and sizes take {} bytes, a task of this stage may "
                 "take {}; write fewer files",
                 report.partitions_size(), task.ByteSizeLong(), limit);
  }
  return task;
}

}  // namespace houtu::jobmanager
