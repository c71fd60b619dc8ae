#include "client/logs/task_log.h"

#include <utility>

#include "client/logs/last_lines.h"
#include "client/text/safe_text.h"
#include "client/view/job_view.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

std::string TaskName(const std::string& stage, int task) {
  return fmt::format("{}/{}", SafeLine(stage), task);
}

/// Whether the log may come later, from there or from elsewhere: an agent that is away, or one that
/// does not know the attempt yet.
bool IsWorthWaiting(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kNotFound;
}

}  // namespace

TaskLog::TaskLog(Masters* masters, Agents* agents, Interrupt* interrupt, Output output)
    : masters_(masters), agents_(agents), interrupt_(interrupt), output_(std::move(output)) {}

absl::Status TaskLog::Read(const std::string& job_id, const std::string& stage, int task,
                           bool follow, const LogTail& tail) {
  Position position;
  v1::ReadLogRequest request;
  request.mutable_id()->set_job(job_id);
  request.mutable_id()->set_stage(stage);
  request.mutable_id()->set_task(task);
  bool told_waiting = false;
  for (;;) {
    // Asked before the task is looked up: a job that has ended starts no further attempt.
    HOUTU_ASSIGN_OR_RETURN(const bool job_ended, JobEnded(job_id));
    HOUTU_ASSIGN_OR_RETURN(const v1::TaskStatus status, FindTask(job_id, stage, task));
    const bool started = status.attempt() > 0 && !status.node().empty();
    if (!started && (!follow || job_ended)) {
      return Error(absl::StatusCode::kNotFound, "{} has not started: there is no log",
                   TaskName(stage, task));
    }
    if (started && (status.attempt() != position.attempt || !position.attempt_ended)) {
      if (position.attempt != 0 && status.attempt() != position.attempt) {
        output_.note(fmt::format("{}: attempt {} on {}", TaskName(stage, task), status.attempt(),
                                 SafeLine(status.node())));
      }
      request.set_follow(follow);
      const absl::Status read = ReadAttempt(status, request, tail, &position);
      const bool over = job_ended || status.state() == v1::TaskStatus::STATE_FINISHED;
      if (!follow || (read.ok() && over)) {
        return read;
      }
      if (!read.ok() && (!IsWorthWaiting(read) || (over && ++position.fruitless > kFruitlessMax))) {
        return read;
      }
      if (read.ok() && position.attempt_ended) {
        continue;  // most often the task has finished by now
      }
    } else if (started && (job_ended || status.state() == v1::TaskStatus::STATE_FINISHED)) {
      return absl::OkStatus();
    }
    if (!started && !std::exchange(told_waiting, true)) {
      output_.note(TaskName(stage, task) + " waits to be started");
    }
    if (!interrupt_->Sleep(kPollPause)) {
      return absl::CancelledError("interrupted");
    }
  }
}

absl::Status TaskLog::ReadAttempt(const v1::TaskStatus& task, v1::ReadLogRequest request,
                                  const LogTail& tail, Position* position) {
  const bool first_read = position->attempt == 0;
  if (task.attempt() != position->attempt) {
    *position = {.attempt = task.attempt()};
  }
  HOUTU_ASSIGN_OR_RETURN(const std::string address, AgentAddress(task));
  request.mutable_id()->set_attempt(task.attempt());
  if (first_read && tail.lines.has_value()) {
    // What is there now first, for the last lines; then on from there.
    LastLines lines(*tail.lines);
    v1::ReadLogRequest now = request;
    now.set_follow(false);
    now.set_tail_bytes(LastLines::kBytesMax);
    const auto keep = [&lines](std::string_view data) { lines.Add(data); };
    HOUTU_RETURN_IF_ERROR(Stream(address, now, keep, position));
    output_.data(lines.Take());
    if (!request.follow() || position->attempt_ended) {
      return absl::OkStatus();
    }
  } else if (first_read && tail.bytes.has_value()) {
    request.set_tail_bytes(*tail.bytes);
  }
  request.set_offset_bytes(position->offset);
  return Annotate(Stream(address, request, output_.data, position),
                  "node " + SafeLine(task.node()));
}

absl::Status TaskLog::Stream(const std::string& address, const v1::ReadLogRequest& request,
                             const std::function<void(std::string_view)>& sink,
                             Position* position) {
  return agents_->ReadLog(address, request, [&](const v1::LogChunk& chunk) {
    if (chunk.dropped_bytes() > 0) {
      output_.note(fmt::format("{} bytes of the log's middle are not kept (over its size limit)",
                               chunk.dropped_bytes()));
    }
    if (!chunk.data().empty()) {
      sink(chunk.data());
      position->fruitless = 0;
    }
    position->offset = chunk.offset_bytes() + static_cast<int64_t>(chunk.data().size());
    position->attempt_ended = chunk.end();
    return absl::OkStatus();
  });
}

absl::StatusOr<v1::TaskStatus> TaskLog::FindTask(const std::string& job_id,
                                                 const std::string& stage, int task) {
  v1::ListTasksRequest request;
  request.set_job(job_id);
  request.set_stage(stage);
  request.set_page_size(5000);
  do {
    HOUTU_ASSIGN_OR_RETURN(const v1::ListTasksResponse page, masters_->ListTasks(request));
    for (const v1::TaskStatus& status : page.tasks()) {
      if (status.task() == task) {
        return status;
      }
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return Error(absl::StatusCode::kNotFound, "the job has no task {}", TaskName(stage, task));
}

absl::StatusOr<bool> TaskLog::JobEnded(const std::string& job_id) {
  v1::GetJobRequest request;
  request.set_job(job_id);
  HOUTU_ASSIGN_OR_RETURN(const v1::GetJobResponse response, masters_->GetJob(request));
  return IsEnded(response.status().state());
}

absl::StatusOr<std::string> TaskLog::AgentAddress(const v1::TaskStatus& task) {
  v1::ListNodesRequest request;
  request.set_node(task.node());
  HOUTU_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, masters_->ListNodes(request));
  // Names are unique in a datacenter alone: the task's own first.
  std::string elsewhere;
  for (const v1::Node& node : response.nodes()) {
    if (node.name() == task.node() && node.datacenter() == task.datacenter()) {
      return node.agent_address();
    }
    elsewhere = node.name() == task.node() ? node.agent_address() : elsewhere;
  }
  if (!elsewhere.empty()) {
    return elsewhere;
  }
  return Error(absl::StatusCode::kUnavailable, "no master knows the address of node {} now",
               SafeLine(task.node()));
}

}  // namespace houtu::client
