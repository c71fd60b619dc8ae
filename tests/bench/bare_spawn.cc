#include "tests/bench/bare_spawn.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/status.h"

namespace houtu::bench {
namespace {

std::atomic<bool> interrupted = false;

void Interrupt(int) { interrupted = true; }

/// While it lives, SIGINT and SIGTERM end the run and not the process: no cgroup stays behind.
class Interruptible {
 public:
  Interruptible() {
    struct sigaction action{};
    action.sa_handler = Interrupt;
    sigaction(SIGINT, &action, &int_before_);
    sigaction(SIGTERM, &action, &term_before_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &int_before_, nullptr);
    sigaction(SIGTERM, &term_before_, nullptr);
  }

 private:
  struct sigaction int_before_;
  struct sigaction term_before_;
};

/// One run's workers share it.
struct Shared {
  agent::Cgroups* cgroups;
  std::string parent;
  agent::CgroupLimits limits;
  int count;
  std::atomic<int> next = 0;
  std::atomic<int> ended_before_move = 0;
  std::mutex mutex;
  absl::Status first_error = absl::OkStatus();
};

absl::Status Spawn(pid_t* pid) {
  char program[] = "/bin/true";
  char* const argv[] = {program, nullptr};
  const int error = posix_spawn(pid, program, nullptr, nullptr, argv, environ);
  return error == 0 ? absl::OkStatus() : ErrnoError(error, program);
}

absl::Status WaitForSuccess(pid_t pid) {
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended != pid || status != 0) {
    return absl::InternalError("/bin/true did not exit with 0");
  }
  return absl::OkStatus();
}

/// As a task's life: a cgroup with limits, the program in it, its counters read, the cgroup gone.
absl::Status RunOne(Shared* shared, const std::string& cgroup) {
  HOUTU_RETURN_IF_ERROR(shared->cgroups->Create(cgroup, shared->limits));
  pid_t pid = 0;
  HOUTU_RETURN_IF_ERROR(Spawn(&pid));
  const absl::Status moved = shared->cgroups->AddProcess(cgroup, pid);
  HOUTU_RETURN_IF_ERROR(WaitForSuccess(pid));
  if (!moved.ok() && !absl::IsNotFound(moved)) {
    return moved;
  }
  // The kernel takes a process that has just ended without a word: what tells is that none of its
  // memory was counted.
  if (shared->cgroups->Usage(cgroup).memory_peak_bytes == 0) {
    ++shared->ended_before_move;
  }
  return shared->cgroups->Remove(cgroup);
}

void Work(Shared* shared) {
  for (int i = shared->next++; i < shared->count; i = shared->next++) {
    const absl::Status status = interrupted
                                    ? absl::CancelledError("interrupted")
                                    : RunOne(shared, shared->parent + "/t" + std::to_string(i));
    if (!status.ok()) {
      const std::lock_guard lock(shared->mutex);
      shared->first_error.Update(status);
      return;
    }
  }
}

}  // namespace

absl::StatusOr<BareRun> RunBare(int count, int parallel, const agent::CgroupLimits& limits) {
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<agent::Cgroups> cgroups, agent::Cgroups::Detect());
  Shared shared{.cgroups = cgroups.get(),
                .parent = "houtu-bench-" + std::to_string(getpid()),
                .limits = limits,
                .count = count};
  const Interruptible interruptible;
  HOUTU_RETURN_IF_ERROR(cgroups->Create(shared.parent, {}));
  const absl::Time begin = absl::Now();
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < parallel; ++i) {
      workers.emplace_back(Work, &shared);
    }
  }
  const absl::Duration took = absl::Now() - begin;
  shared.first_error.Update(cgroups->Remove(shared.parent));
  HOUTU_RETURN_IF_ERROR(shared.first_error);
  return BareRun{.took = took, .ended_before_move = shared.ended_before_move};
}

}  // namespace houtu::bench
