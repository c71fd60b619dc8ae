// Attempt: one program that the executor started: its process, its output, its limits, its end.
//
//   Start -> kStarting --exec pipe closes--> kRunning --first process ends--> kEnded --status file
//                 \--a step failed--> kFailed (no status file)                 written--> kRecorded
//
// Owner: the Executor. Single thread, no call blocks but in the disk.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "agent/executor/log_writer.h"
#include "agent/executor/protocol.h"

namespace houtu::agent {

enum class AttemptState { kStarting, kRunning, kEnded, kFailed, kRecorded };

class Attempt {
 public:
  /// `connection_fd` waits for the command's answer; owned from here.
  Attempt(StartCommand command, int connection_fd);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// Forks. On failure the connection has its answer and the state is kFailed.
  void Start(int tasks_folder_fd);

  /// exec_fd() is readable: exec has succeeded or a step before it has failed; answers the agent.
  void OnExecReadable();
  /// output_fd() is readable: moves one piece of it to the log.
  void OnOutputReadable();
  /// waitpid gave the first process's status.
  void OnProcessEnd(int wait_status);
  /// SIGTERM to the process group; SIGKILL after `grace_ms` more.
  void Stop(int64_t grace_ms);
  /// `elapsed_ms` went by: timeout, grace, another try at the status file.
  void Advance(int64_t elapsed_ms);

  const std::string& name() const { return command_.name; }
  AttemptState state() const { return state_; }
  pid_t pid() const { return pid_; }
  /// -1: nothing to wait for.
  int exec_fd() const { return exec_fd_; }
  int output_fd() const { return output_fd_; }
  /// Until Advance has something to do; -1: nothing.
  int64_t WaitMs() const;

 private:
  void Answer(const CommandResult& result);
  void Fail(const CommandResult& result);
  void Signal(int signal_number);
  void DrainOutput();
  void Record();
  std::string StatusText() const;

  StartCommand command_;
  AttemptState state_ = AttemptState::kStarting;
  int connection_fd_;
  int folder_fd_ = -1;
  int exec_fd_ = -1;
  int output_fd_ = -1;
  pid_t pid_ = -1;
  LogWriter log_;
  /// -1: none, or used up.
  int64_t timeout_left_ms_ = -1;
  int64_t kill_left_ms_ = -1;
  bool timed_out_ = false;
  bool stopped_ = false;
  int wait_status_ = 0;
  int64_t started_unix_ns_ = 0;
  int64_t ended_unix_ns_ = 0;
};

}  // namespace houtu::agent
