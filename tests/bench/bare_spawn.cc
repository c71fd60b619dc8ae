#include "tests/bench/bare_spawn.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/runtime/cgroup.h"
#include "common/base/status.h"

namespace houtu::bench {
namespace {

/// As a task's: a cgroup with limits, the program in it, its counters read, the cgroup removed.
absl::Status RunOne(agent::Cgroups* cgroups, const std::string& cgroup, int cpu_millis) {
  HOUTU_RETURN_IF_ERROR(cgroups->Create(
      cgroup, {.cpu_millis = cpu_millis, .memory_bytes = 32 << 20, .pids_max = 64}));
  char program[] = "/bin/true";
  char* const argv[] = {program, nullptr};
  pid_t pid = 0;
  if (const int error = posix_spawn(&pid, program, nullptr, nullptr, argv, environ); error != 0) {
    return ErrnoError(error, program);
  }
  // It may have ended already; then there is nothing to move.
  if (absl::Status moved = cgroups->AddProcess(cgroup, pid);
      !moved.ok() && !absl::IsNotFound(moved)) {
    return moved;
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) {
    return absl::InternalError("/bin/true did not exit with 0");
  }
  cgroups->Usage(cgroup);
  return cgroups->Remove(cgroup);
}

}  // namespace

absl::StatusOr<double> BareSpawnSeconds(int count, int parallel) {
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<agent::Cgroups> cgroups, agent::Cgroups::Detect());
  const std::string parent = "houtu-bench-" + std::to_string(getpid());
  HOUTU_RETURN_IF_ERROR(cgroups->Create(parent, {}));
  std::atomic<int> next = 0;
  std::mutex mutex;
  absl::Status first;
  const absl::Time begin = absl::Now();
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < parallel; ++i) {
      workers.emplace_back([&] {
        for (int task = next++; task < count; task = next++) {
          const absl::Status status =
              RunOne(cgroups.get(), parent + "/t" + std::to_string(task), 1000);
          const std::lock_guard lock(mutex);
          first.Update(status);
        }
      });
    }
  }
  const absl::Time end = absl::Now();
  first.Update(cgroups->Remove(parent));
  HOUTU_RETURN_IF_ERROR(first);
  return absl::ToDoubleSeconds(end - begin);
}

}  // namespace houtu::bench
