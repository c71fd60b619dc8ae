#include "agent/executor/executor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace houtu::agent {
namespace {

constexpr int kBacklog = 16;
constexpr size_t kConnectionsMax = 16;
/// With a limit running, the clock is looked at this often at least.
constexpr int64_t kStepMaxMs = 1000;
/// A longer step means that the container was frozen, or moved to a machine with another monotonic
/// clock: that time counts towards no limit.
constexpr int64_t kFrozenStepMs = 10'000;

int64_t MonotonicMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void Send(int fd, const std::string& message) {
  // The agent reads one short answer; if it has gone, nobody misses it.
  send(fd, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool IsFolderName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

int Executor::Open(std::string& what) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  what = "signalfd";
  child_fd_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (child_fd_ < 0) return errno;
  what = options_.root + "/t";
  tasks_fd_ = open(what.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks_fd_ < 0) return errno;
  what = options_.root + "/ctl/" + kExecutorSocketName;
  return Listen();
}

int Executor::Listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = options_.root + "/ctl/" + kExecutorSocketName;
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  path.copy(address.sun_path, path.size());
  listen_fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listen_fd_ < 0) return errno;
  unlink(path.c_str());
  if (bind(listen_fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listen_fd_, kBacklog) != 0) {
    return errno;
  }
  const std::string ready = options_.root + "/ctl/" + kExecutorReadyName;
  const int fd = open(ready.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

void Executor::Run() {
  last_ms_ = MonotonicMs();
  while (true) Wait();
}

void Executor::Wait() {
  std::vector<pollfd> fds = {{listen_fd_, POLLIN, 0}, {child_fd_, POLLIN, 0}};
  for (const Connection& connection : connections_) fds.push_back({connection.fd, POLLIN, 0});
  int64_t wait_ms = -1;
  for (const Attempt& attempt : attempts_) {
    fds.push_back({attempt.exec_fd(), POLLIN, 0});
    fds.push_back({attempt.output_fd(), POLLIN, 0});
    const int64_t own = attempt.WaitMs();
    if (own >= 0) wait_ms = std::min(wait_ms < 0 ? kStepMaxMs : wait_ms, own);
  }
  if (poll(fds.data(), fds.size(), static_cast<int>(wait_ms)) < 0) return;
  auto fd = fds.cbegin() + 2;
  for (auto it = connections_.begin(); it != connections_.end(); ++fd) {
    const bool done = fd->revents != 0 && OnConnectionReadable(*it);
    it = done ? connections_.erase(it) : std::next(it);
  }
  // Attempts that a command of this round has added stand behind those that were polled.
  for (auto it = attempts_.begin(); fd != fds.cend(); ++it, fd += 2) {
    if (fd[0].revents != 0) it->OnExecReadable();
    if (fd[1].revents != 0 && it->output_fd() >= 0) it->OnOutputReadable();
  }
  AdvanceClock();
  if (fds[1].revents != 0) Reap();
  if (fds[0].revents != 0) Accept();
  DropDone();
}

void Executor::AdvanceClock() {
  const int64_t now_ms = MonotonicMs();
  const int64_t step_ms = now_ms - last_ms_;
  last_ms_ = now_ms;
  const bool frozen = step_ms < 0 || step_ms > kFrozenStepMs;
  for (Attempt& attempt : attempts_) {
    if (attempt.WaitMs() >= 0) attempt.Advance(frozen ? 0 : step_ms);
  }
}

void Executor::Reap() {
  signalfd_siginfo ignored;
  while (read(child_fd_, &ignored, sizeof(ignored)) > 0) {
  }
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto it = std::find_if(attempts_.begin(), attempts_.end(),
                                 [pid](const Attempt& attempt) { return attempt.pid() == pid; });
    if (it != attempts_.end()) it->OnProcessEnd(status);
  }
}

void Executor::Accept() {
  // Blocking, because the child waits at its gate on the same description; reads here never wait.
  const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (connections_.size() >= kConnectionsMax || !PeerMayCommand(fd)) {
    close(fd);
    return;
  }
  connections_.push_back({.fd = fd, .received = {}});
}

bool Executor::PeerMayCommand(int fd) const {
  if (options_.local_peers) return true;
  ucred peer;
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == 0;
}

bool Executor::OnConnectionReadable(Connection& connection) {
  static char piece[64 << 10];
  const ssize_t n = recv(connection.fd, piece, sizeof(piece), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) return close(connection.fd), true;
  std::string& received = connection.received;
  received.append(piece, static_cast<size_t>(n));
  if (received.size() < kMessageHeaderBytes) return false;
  uint32_t length;
  std::memcpy(&length, received.data(), sizeof(length));
  if (length > kMessageBytesMax) return close(connection.fd), true;
  if (received.size() < kMessageHeaderBytes + length) return false;
  Carry(std::string_view(received).substr(kMessageHeaderBytes, length), connection.fd);
  return true;
}

void Executor::Carry(std::string_view text, int fd) {
  MessageReader message(text);
  switch (message.Type()) {
    case MessageType::kStart:
      return Start(message, fd);
    case MessageType::kStop:
      return Stop(message, fd);
    case MessageType::kList:
      return ListAttempts(fd);
    case MessageType::kPing:
      Send(fd, Encode(CommandResult{}));
      break;
    case MessageType::kGate:
    case MessageType::kAck:
    case MessageType::kResult:
    case MessageType::kNames:
    default:
      Send(fd, Encode(CommandResult{.step = FailedStep::kMessage, .error_number = EBADMSG}));
  }
  close(fd);
}

void Executor::Start(MessageReader& message, int fd) {
  StartCommand command;
  CommandResult refusal;
  if (!Decode(message, command) || !IsFolderName(command.name)) {
    refusal = {.step = FailedStep::kMessage, .error_number = EBADMSG};
  } else if (Find(command.name) != nullptr) {
    refusal = {.step = FailedStep::kTask, .error_number = EEXIST};
  }
  if (refusal.step != FailedStep::kNone) {
    Send(fd, Encode(refusal));
    close(fd);
    return;
  }
  attempts_.emplace_back(std::move(command), fd).Start(tasks_fd_);
}

void Executor::Stop(MessageReader& message, int fd) {
  StopCommand command;
  CommandResult result;
  if (!Decode(message, command)) {
    result = {.step = FailedStep::kMessage, .error_number = EBADMSG};
  } else if (Attempt* attempt = Find(command.name); attempt == nullptr || attempt->pid() < 0) {
    result = {.step = FailedStep::kTask, .error_number = ESRCH};
  } else {
    attempt->Stop(command.grace_ms);
  }
  Send(fd, Encode(result));
  close(fd);
}

void Executor::ListAttempts(int fd) {
  std::vector<std::string> names;
  for (const Attempt& attempt : attempts_) names.push_back(attempt.name());
  Send(fd, MessageWriter(MessageType::kNames).List(names).Take());
  close(fd);
}

void Executor::DropDone() {
  attempts_.remove_if([](const Attempt& attempt) {
    return attempt.state() == AttemptState::kRecorded || attempt.state() == AttemptState::kFailed;
  });
}

Attempt* Executor::Find(std::string_view name) {
  for (Attempt& attempt : attempts_) {
    if (attempt.name() == name) return &attempt;
  }
  return nullptr;
}

}  // namespace houtu::agent
