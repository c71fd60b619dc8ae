// TaskLog: one task's log as one stream, across attempts and nodes.
//
//   find the task ──waits──> (follow) look again
//        │ runs or ran on a node
//        v
//   read its attempt from where we are ──stream broke──> (follow) find the task again
//        │ the attempt ended
//        v
//   the task finished, or its job ended: done; else (follow) wait for its next attempt
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/logs/log_target.h"
#include "client/net/agents.h"
#include "client/net/interrupt.h"
#include "client/net/masters.h"
#include "houtu/v1/partition_service.pb.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {

/// Owner: the command; one thread.
class TaskLog {
 public:
  /// Pause between looks at a task that has nothing to read now.
  static constexpr absl::Duration kPollPause = absl::Milliseconds(500);
  /// Looks without an answer from the node of a task that has ended, before it is given up.
  static constexpr int kFruitlessMax = 10;

  struct Output {
    /// The log's bytes, as they are.
    std::function<void(std::string_view)> data;
    /// A sentence about the log: dropped bytes, a new attempt.
    std::function<void(const std::string&)> note;
  };

  /// All outlive it.
  TaskLog(Masters* masters, Agents* agents, Interrupt* interrupt, Output output);

  /// Streams the log of one task. NOT_FOUND: no such task, or it has not started; UNAVAILABLE: its
  /// node can't be reached.
  absl::Status Read(const std::string& job_id, const std::string& stage, int task, bool follow,
                    const LogTail& tail);

 private:
  /// Where we are in the task's log.
  struct Position {
    int attempt = 0;
    int64_t offset = 0;
    bool attempt_ended = false;
    int fruitless = 0;
  };

  absl::StatusOr<v1::TaskStatus> FindTask(const std::string& job_id, const std::string& stage,
                                          int task);
  absl::StatusOr<bool> JobEnded(const std::string& job_id);
  absl::StatusOr<std::string> AgentAddress(const v1::TaskStatus& task);
  absl::Status ReadAttempt(const v1::TaskStatus& task, v1::ReadLogRequest request,
                           const LogTail& tail, Position* position);
  absl::Status Stream(const std::string& address, const v1::ReadLogRequest& request,
                      const std::function<void(std::string_view)>& sink, Position* position);

  Masters* const masters_;
  Agents* const agents_;
  Interrupt* const interrupt_;
  const Output output_;
};

}  // namespace houtu::client
