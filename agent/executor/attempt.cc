#include "agent/executor/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "agent/executor/launch.h"
#include "agent/executor/status_format.h"

namespace houtu::agent {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
/// A status file that could not be written (a full disk) is tried again this often.
constexpr int64_t kRecordRetryMs = 1000;

int64_t UnixNanos() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void CloseAndForget(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

/// The least of two waits of which -1 means none.
int64_t Sooner(int64_t a, int64_t b) {
  if (a < 0) return b;
  return b < 0 ? a : std::min(a, b);
}

/// Counts down; true when it has just run out.
bool RunsOut(int64_t& left_ms, int64_t elapsed_ms) {
  if (left_ms < 0) return false;
  left_ms -= elapsed_ms;
  if (left_ms > 0) return false;
  left_ms = -1;
  return true;
}

}  // namespace

Attempt::Attempt(StartCommand command, int connection_fd)
    : command_(std::move(command)), connection_fd_(connection_fd) {
  if (command_.timeout_ms > 0) timeout_left_ms_ = command_.timeout_ms;
}

Attempt::~Attempt() {
  CloseAndForget(connection_fd_);
  CloseAndForget(exec_fd_);
  CloseAndForget(output_fd_);
  CloseAndForget(folder_fd_);
}

void Attempt::Start(int tasks_folder_fd) {
  folder_fd_ = openat(tasks_folder_fd, command_.name.c_str(),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder_fd_ < 0) return Fail({.step = FailedStep::kLog, .error_number = errno});
  if (const int error_number = log_.Open(folder_fd_, command_.log_bytes_max); error_number != 0) {
    return Fail({.step = FailedStep::kLog, .error_number = error_number});
  }
  CommandResult failure;
  const Launched launched = Launch(command_, connection_fd_, failure);
  if (launched.pid < 0) return Fail(failure);
  pid_ = launched.pid;
  output_fd_ = launched.output_fd;
  exec_fd_ = launched.exec_fd;
  started_unix_ns_ = UnixNanos();
}

void Attempt::OnExecReadable() {
  CommandResult result;
  const ssize_t n = read(exec_fd_, &result, sizeof(result));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  CloseAndForget(exec_fd_);
  if (n == sizeof(result)) return Fail(result);
  state_ = AttemptState::kRunning;
  started_unix_ns_ = UnixNanos();
  Answer({});
}

void Attempt::OnOutputReadable() {
  static char piece[kPieceBytes];
  const ssize_t n = read(output_fd_, piece, sizeof(piece));
  if (n > 0) {
    log_.Append({piece, static_cast<size_t>(n)});
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    CloseAndForget(output_fd_);
  }
}

void Attempt::OnProcessEnd(int wait_status) {
  if (state_ == AttemptState::kStarting) {
    OnExecReadable();
    // A sibling forked meanwhile may still hold the pipe open: no message then means that none
    // came.
    if (state_ == AttemptState::kStarting) {
      state_ = AttemptState::kRunning;
      Answer({});
    }
  }
  pid_ = -1;
  if (state_ != AttemptState::kRunning) return;
  state_ = AttemptState::kEnded;
  wait_status_ = wait_status;
  ended_unix_ns_ = UnixNanos();
  timeout_left_ms_ = kill_left_ms_ = -1;
  CloseAndForget(exec_fd_);
  DrainOutput();
  Record();
}

void Attempt::Stop(int64_t grace_ms) {
  if (pid_ < 0) return;
  stopped_ = true;
  kill_left_ms_ = std::max<int64_t>(grace_ms, 0);
  Signal(SIGTERM);
  Advance(0);
}

void Attempt::Advance(int64_t elapsed_ms) {
  if (state_ == AttemptState::kEnded) return Record();
  if (state_ == AttemptState::kRunning && RunsOut(timeout_left_ms_, elapsed_ms)) {
    timed_out_ = true;
    kill_left_ms_ = Sooner(kill_left_ms_, std::max<int64_t>(command_.grace_ms, 0));
    Signal(SIGTERM);
    elapsed_ms = 0;
  }
  if (RunsOut(kill_left_ms_, elapsed_ms)) Signal(SIGKILL);
}

int64_t Attempt::WaitMs() const {
  if (state_ == AttemptState::kEnded) return kRecordRetryMs;
  return Sooner(timeout_left_ms_, kill_left_ms_);
}

void Attempt::Answer(const CommandResult& result) {
  if (connection_fd_ < 0) return;
  const std::string message = Encode(result);
  // An agent that has gone asks again when it is back (kList): nothing is lost by a failed send.
  send(connection_fd_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  CloseAndForget(connection_fd_);
}

void Attempt::Fail(const CommandResult& result) {
  state_ = AttemptState::kFailed;
  Answer(result);
}

void Attempt::Signal(int signal_number) {
  if (pid_ < 0) return;
  // Before its setsid the child has no group of its own yet.
  if (kill(-pid_, signal_number) != 0) kill(pid_, signal_number);
}

/// What the first process left in the pipe, and no more: its children may write on for ever.
void Attempt::DrainOutput() {
  if (output_fd_ < 0) return;
  const int capacity = fcntl(output_fd_, F_GETPIPE_SZ);
  for (int64_t left = capacity; left > 0 && output_fd_ >= 0; left -= kPieceBytes) {
    OnOutputReadable();
  }
  CloseAndForget(output_fd_);
}

void Attempt::Record() {
  const std::string text = StatusText();
  const int fd = openat(folder_fd_, kStatusNewName,
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = close(fd) == 0;
  if (!written || !closed) return;
  if (renameat(folder_fd_, kStatusNewName, folder_fd_, kStatusName) == 0) {
    state_ = AttemptState::kRecorded;
  }
}

std::string Attempt::StatusText() const {
  std::string text;
  const auto add = [&text](const char* key, int64_t value) {
    text.append(key).append("=").append(std::to_string(value)).append("\n");
  };
  add(kStatusExit, WIFEXITED(wait_status_) ? WEXITSTATUS(wait_status_) : -1);
  add(kStatusSignal, WIFSIGNALED(wait_status_) ? WTERMSIG(wait_status_) : 0);
  add(kStatusTimedOut, timed_out_);
  add(kStatusStopped, stopped_);
  add(kStatusStarted, started_unix_ns_);
  add(kStatusEnded, ended_unix_ns_);
  add(kStatusLogErrno, log_.error_number());
  return text;
}

}  // namespace houtu::agent
