#include "agent/runtime/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "common/base/status.h"

extern char** environ;

namespace houtu::agent {
namespace {

constexpr size_t kCaptureBytesMax = 64 << 10;

/// A pipe whose write end becomes a descriptor of the program.
struct Capture {
  int fds[2] = {-1, -1};
  std::string text;

  ~Capture() {
    CloseWriter();
    if (fds[0] >= 0) close(fds[0]);
  }
  bool Open() { return pipe2(fds, O_CLOEXEC) == 0; }
  void CloseWriter() {
    if (fds[1] >= 0) close(fds[1]);
    fds[1] = -1;
  }
  void Read() {
    char piece[4096];
    const ssize_t n = read(fds[0], piece, sizeof(piece));
    if (n > 0) {
      const size_t room = kCaptureBytesMax - text.size();
      text.append(piece, std::min(room, static_cast<size_t>(n)));
    } else if (n == 0 || errno != EINTR) {
      close(fds[0]);
      fds[0] = -1;
    }
  }
};

std::vector<std::string> Environment(const std::vector<std::string>& own) {
  std::map<std::string, std::string> merged;
  const auto add = [&merged](const std::string& entry) {
    merged[entry.substr(0, entry.find('='))] = entry;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) add(*entry);
  for (const std::string& entry : own) add(entry);
  std::vector<std::string> env;
  for (auto& [name, entry] : merged) env.push_back(std::move(entry));
  return env;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<pid_t> Spawn(const ProgramSpec& spec, const Capture& output, const Capture& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (spec.capture) {
    posix_spawn_file_actions_adddup2(&actions, output.fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, errors.fds[1], 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const std::vector<std::string> env = Environment(spec.env);
  pid_t pid = -1;
  const int error_number = posix_spawnp(&pid, spec.argv[0].c_str(), &actions, &attributes,
                                        Pointers(spec.argv).data(), Pointers(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error_number != 0) return ErrnoError(error_number, spec.argv[0]);
  return pid;
}

/// Reads until the program has ended or the deadline has passed; true: it has ended.
bool AwaitEnd(int pid_fd, absl::Time deadline, Capture& output, Capture& errors) {
  while (true) {
    pollfd fds[] = {{pid_fd, POLLIN, 0}, {output.fds[0], POLLIN, 0}, {errors.fds[0], POLLIN, 0}};
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    const int ready = poll(fds, 3, static_cast<int>(std::max<int64_t>(left_ms, 0)));
    if (ready == 0 && left_ms <= 0) return false;
    if (ready < 0) continue;
    if (fds[1].revents != 0) output.Read();
    if (fds[2].revents != 0) errors.Read();
    const bool drained = fds[1].revents == 0 && fds[2].revents == 0;
    if (fds[0].revents != 0 && drained) return true;
  }
}

}  // namespace

absl::StatusOr<ProgramResult> RunProgram(const ProgramSpec& spec) {
  Capture output;
  Capture errors;
  if (spec.capture && (!output.Open() || !errors.Open())) return ErrnoError(errno, "pipe");
  HOUTU_ASSIGN_OR_RETURN(const pid_t pid, Spawn(spec, output, errors));
  output.CloseWriter();
  errors.CloseWriter();
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const bool ended = AwaitEnd(pid_fd, absl::Now() + spec.deadline, output, errors);
  if (!ended) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(pid_fd);
  if (!ended) {
    return Error(absl::StatusCode::kDeadlineExceeded, "{} did not end within {}", spec.argv[0],
                 absl::FormatDuration(spec.deadline));
  }
  return ProgramResult{
      .exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
      .output = std::move(output.text),
      .errors = std::move(errors.text),
  };
}

absl::StatusOr<std::string> RunProgramOk(const ProgramSpec& spec) {
  HOUTU_ASSIGN_OR_RETURN(ProgramResult result, RunProgram(spec));
  if (result.exit_status == 0) return std::move(result.output);
  const std::string& said = result.errors.empty() ? result.output : result.errors;
  return Error(absl::StatusCode::kInternal, "{} {}: exit status {}: {}", spec.argv[0],
               spec.argv.size() > 1 ? spec.argv[1] : "", result.exit_status,
               said.substr(0, said.find('\n')));
}

}  // namespace houtu::agent
