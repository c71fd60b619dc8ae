#include "agent/executor/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace houtu::agent {
namespace {

constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Under memory pressure of the whole lease the kernel takes tasks before the executor.
constexpr char kTaskOomScoreAdj[] = "500";
constexpr int kChildFailed = 127;

/// Does not return: tells the executor, then exits.
[[noreturn]] void FailChild(int exec_fd, FailedStep step, int error_number) {
  const CommandResult result{.step = step, .error_number = error_number};
  // The executor is this process's parent and reads; a failed write leaves only a bare exit 127.
  [[maybe_unused]] const ssize_t written = write(exec_fd, &result, sizeof(result));
  _exit(kChildFailed);
}

void BecomeTaskLike() {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
  // The executor is not dumpable; /proc/self is the task's own only if it is.
  prctl(PR_SET_DUMPABLE, 1);
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t n = write(fd, kTaskOomScoreAdj, sizeof(kTaskOomScoreAdj) - 1);
    close(fd);
  }
}

/// Tells the agent this process's pid and waits until it stands in its cgroups.
void PassGate(int connection_fd, int exec_fd) {
  const std::string gate = MessageWriter(MessageType::kGate).Take();
  if (send(connection_fd, gate.data(), gate.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(gate.size())) {
    FailChild(exec_fd, FailedStep::kGate, errno);
  }
  char ack[kMessageHeaderBytes + 1];
  ssize_t n;
  do {
    n = recv(connection_fd, ack, sizeof(ack), MSG_WAITALL);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof(ack) || ack[kMessageHeaderBytes] != static_cast<char>(MessageType::kAck)) {
    FailChild(exec_fd, FailedStep::kGate, n < 0 ? errno : ECONNABORTED);
  }
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view PathOf(const std::vector<std::string>& env) {
  for (std::string_view entry : env) {
    if (entry.substr(0, 5) == "PATH=") return entry.substr(5);
  }
  return kDefaultPath;
}

/// Becomes the program, looked up in the task's own PATH; returns the errno. Not execvpe: that
/// hands a file which is no program to /bin/sh.
int ExecInPath(const StartCommand& command) {
  const std::vector<char*> argv = Pointers(command.argv);
  const std::vector<char*> env = Pointers(command.env);
  const std::string& program = command.argv.front();
  if (program.find('/') != std::string::npos) {
    execve(program.c_str(), argv.data(), env.data());
    return errno;
  }
  int error_number = ENOENT;
  std::string_view path = PathOf(command.env);
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(folder.size() < path.size() ? folder.size() + 1 : path.size());
    const std::string file = std::string(folder.empty() ? "." : folder) + "/" + program;
    execve(file.c_str(), argv.data(), env.data());
    if (errno != ENOENT && errno != ENOTDIR) error_number = errno;
    if (error_number != ENOENT && error_number != EACCES) break;
  }
  return error_number;
}

[[noreturn]] void RunChild(const StartCommand& command, int connection_fd, int output_fd,
                           int exec_fd) {
  BecomeTaskLike();
  PassGate(connection_fd, exec_fd);
  if (dup2(output_fd, STDOUT_FILENO) < 0 || dup2(output_fd, STDERR_FILENO) < 0) {
    FailChild(exec_fd, FailedStep::kLog, errno);
  }
  if (chdir(command.working_dir.c_str()) != 0) {
    FailChild(exec_fd, FailedStep::kWorkingDir, errno);
  }
  FailChild(exec_fd, FailedStep::kExec, ExecInPath(command));
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Launched Launch(const StartCommand& command, int connection_fd, CommandResult& failure) {
  int output[2];
  int exec[2];
  if (pipe2(output, O_CLOEXEC) != 0) {
    failure = {.step = FailedStep::kLog, .error_number = errno};
    return {};
  }
  if (pipe2(exec, O_CLOEXEC) != 0) {
    failure = {.step = FailedStep::kLog, .error_number = errno};
    close(output[0]);
    close(output[1]);
    return {};
  }
  const pid_t pid = fork();
  if (pid == 0) RunChild(command, connection_fd, output[1], exec[1]);
  const int fork_errno = errno;
  close(output[1]);
  close(exec[1]);
  if (pid < 0) {
    failure = {.step = FailedStep::kFork, .error_number = fork_errno};
    close(output[0]);
    close(exec[0]);
    return {};
  }
  SetNonBlocking(output[0]);
  SetNonBlocking(exec[0]);
  return {.pid = pid, .output_fd = output[0], .exec_fd = exec[0]};
}

}  // namespace houtu::agent
