#include "agent/runtime/executor_client.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/runtime/executor_connection.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr absl::Duration kPingLimit = absl::Seconds(5);

/// A failed start in words, with the code that tells whose fault it was.
absl::Status StartError(const CommandResult& result, const StartCommand& command) {
  const int error_number = result.error_number;
  const std::string reason = std::strerror(error_number);
  const auto error = [&](absl::StatusCode code, std::string_view what) {
    return Error(code, "{}: {}", what, reason);
  };
  const bool exhausted = error_number == EAGAIN || error_number == ENOMEM ||
                         error_number == ENOSPC || error_number == EDQUOT ||
                         error_number == EMFILE || error_number == ENFILE;
  if (exhausted) return error(absl::StatusCode::kResourceExhausted, "start of a process");
  switch (result.step) {
    case FailedStep::kNone:
      return absl::OkStatus();
    case FailedStep::kWorkingDir:
    case FailedStep::kExec: {
      const bool absent = error_number == ENOENT || error_number == ENOTDIR;
      const bool is_exec = result.step == FailedStep::kExec;
      return error(absent ? absl::StatusCode::kNotFound : absl::StatusCode::kPermissionDenied,
                   is_exec ? command.argv.front() : command.working_dir);
    }
    case FailedStep::kTask:
      return error(absl::StatusCode::kAlreadyExists, command.name);
    case FailedStep::kMessage:
      return error(absl::StatusCode::kInternal, "executor: start message");
    case FailedStep::kLog:
      return error(absl::StatusCode::kInternal, "log of " + command.name);
    case FailedStep::kFork:
      return error(absl::StatusCode::kInternal, "fork");
    case FailedStep::kGate:
      return error(absl::StatusCode::kInternal, "gate of " + command.name);
  }
  return error(absl::StatusCode::kInternal, "executor");
}

absl::StatusOr<CommandResult> ResultOf(const ReceivedMessage& message) {
  MessageReader reader(message.bytes);
  CommandResult result;
  if (reader.Type() != MessageType::kResult || !Decode(reader, result)) {
    return absl::InternalError("executor: an answer that is none");
  }
  return result;
}

/// Waits until `folder` has the file. Errno 0, ESRCH: the process ended first, or ETIMEDOUT and the
/// like.
int AwaitFile(const std::filesystem::path& folder, const char* name, int process_fd,
              absl::Time deadline) {
  const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) return errno;
  int error_number = inotify_add_watch(fd, folder.c_str(), IN_CREATE | IN_MOVED_TO) < 0 ? errno : 0;
  const std::filesystem::path file = folder / name;
  while (error_number == 0 && access(file.c_str(), F_OK) != 0) {
    pollfd wait[] = {{fd, POLLIN, 0}, {process_fd, POLLIN, 0}};
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left_ms <= 0) error_number = ETIMEDOUT;
    char events[4096];
    if (error_number == 0 && poll(wait, 2, static_cast<int>(left_ms)) > 0) {
      [[maybe_unused]] const ssize_t n = read(fd, events, sizeof(events));
      if (wait[1].revents != 0) error_number = ESRCH;
    }
  }
  close(fd);
  return error_number;
}

}  // namespace

absl::Status ExecutorClient::AwaitReady(int process_fd, absl::Time deadline) const {
  const int error_number = AwaitFile(ctl_, kExecutorReadyName, process_fd, deadline);
  if (error_number == ESRCH) {
    return absl::UnavailableError("executor: ended before it answered");
  }
  if (error_number == ETIMEDOUT) {
    return absl::DeadlineExceededError("executor: did not come up within its limit");
  }
  if (error_number != 0) return ErrnoError(error_number, ctl_.native());
  return Ping();
}

absl::Status ExecutorClient::Ping() const {
  ExecutorConnection connection;
  HOUTU_RETURN_IF_ERROR(connection.Open(ctl_, executor_pid_, kPingLimit));
  HOUTU_RETURN_IF_ERROR(connection.Send(MessageWriter(MessageType::kPing).Take()));
  return connection.Receive().status();
}

absl::Status ExecutorClient::Start(const StartCommand& command,
                                   const std::function<absl::Status(pid_t)>& move) const {
  const std::string text = Encode(command);
  if (text.size() > kMessageBytesMax) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "command and environment have {} bytes, more than the {} that a program may get",
                 text.size(), kMessageBytesMax);
  }
  ExecutorConnection connection;
  HOUTU_RETURN_IF_ERROR(connection.Open(ctl_, executor_pid_, kCommandLimit));
  HOUTU_RETURN_IF_ERROR(connection.Send(text));
  HOUTU_ASSIGN_OR_RETURN(ReceivedMessage message, connection.Receive());
  if (MessageReader(message.bytes).Type() == MessageType::kGate) {
    // On failure the connection closes and the child ends at its gate.
    HOUTU_RETURN_IF_ERROR(move(message.sender));
    HOUTU_RETURN_IF_ERROR(connection.Send(MessageWriter(MessageType::kAck).Take()));
    HOUTU_ASSIGN_OR_RETURN(message, connection.Receive());
  }
  HOUTU_ASSIGN_OR_RETURN(const CommandResult result, ResultOf(message));
  return StartError(result, command);
}

absl::Status ExecutorClient::Stop(const StopCommand& command) const {
  ExecutorConnection connection;
  HOUTU_RETURN_IF_ERROR(connection.Open(ctl_, executor_pid_, kCommandLimit));
  HOUTU_RETURN_IF_ERROR(connection.Send(Encode(command)));
  HOUTU_ASSIGN_OR_RETURN(const ReceivedMessage message, connection.Receive());
  HOUTU_ASSIGN_OR_RETURN(const CommandResult result, ResultOf(message));
  if (result.step == FailedStep::kNone) return absl::OkStatus();
  if (result.step == FailedStep::kTask) {
    return Error(absl::StatusCode::kNotFound, "{} does not run", command.name);
  }
  return ErrnoError(result.error_number, "executor: stop");
}

absl::StatusOr<std::vector<std::string>> ExecutorClient::List() const {
  ExecutorConnection connection;
  HOUTU_RETURN_IF_ERROR(connection.Open(ctl_, executor_pid_, kCommandLimit));
  HOUTU_RETURN_IF_ERROR(connection.Send(MessageWriter(MessageType::kList).Take()));
  HOUTU_ASSIGN_OR_RETURN(const ReceivedMessage message, connection.Receive());
  MessageReader reader(message.bytes);
  if (reader.Type() != MessageType::kNames) {
    return absl::InternalError("executor: an answer that is none");
  }
  std::vector<std::string> names = reader.List();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace houtu::agent
