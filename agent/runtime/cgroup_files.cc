#include "agent/runtime/cgroup_files.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kProcs[] = "cgroup.procs";
/// Killed processes are looked for again after 1, 2, 3 … ms, some 5 s in all.
constexpr int kKillStepsMax = 100;

std::vector<fs::path> SubFolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) found.push_back(it->path());
  }
  return found;
}

std::vector<pid_t> Processes(const fs::path& folder) {
  std::vector<pid_t> pids;
  const absl::StatusOr<std::string> text = ReadSmallFile(folder / kProcs, 1 << 20);
  if (!text.ok()) return pids;
  for (const auto line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(line, &pid) && pid > 0) pids.push_back(pid);
  }
  return pids;
}

void KillMembers(const fs::path& folder) {
  for (const pid_t pid : Processes(folder)) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) continue;
    // The descriptor pins the process that has this pid now; is it one of the cgroup's?
    const std::vector<pid_t> now = Processes(folder);
    if (std::find(now.begin(), now.end(), pid) != now.end()) {
      syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0);
    }
    close(fd);
  }
}

}  // namespace

int64_t CpuQuotaMicros(int64_t cpu_millis) {
  return std::max(kCpuQuotaMinMicros, cpu_millis * kCpuPeriodMicros / 1000);
}

int64_t CpuShares(int64_t cpu_millis) {
  return std::max<int64_t>(2, cpu_millis * kCpuSharesPerCpu / 1000);
}

absl::Status MakeCgroupFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return absl::OkStatus();
  if (errno != ENOENT) return ErrnoError(errno, folder.native());
  HOUTU_RETURN_IF_ERROR(MakeCgroupFolder(folder.parent_path()));
  if (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrnoError(errno, folder.native());
}

absl::Status RemoveCgroupFolder(const fs::path& folder) {
  // Not remove_all: a cgroup's files can't be unlinked, they go with their folder.
  if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  for (const fs::path& sub : SubFolders(folder)) {
    HOUTU_RETURN_IF_ERROR(RemoveCgroupFolder(sub));
  }
  // A process that was just reaped may hold its cgroup for a moment longer.
  for (int steps = 0; rmdir(folder.c_str()) != 0;) {
    if (errno == ENOENT) break;
    if (errno != EBUSY || !WaitForKilled(steps)) return ErrnoError(errno, folder.native());
  }
  return absl::OkStatus();
}

bool HoldsProcesses(const fs::path& folder) {
  if (!Processes(folder).empty()) return true;
  const std::vector<fs::path> subs = SubFolders(folder);
  return std::any_of(subs.begin(), subs.end(), HoldsProcesses);
}

void KillProcessesOnce(const fs::path& folder) {
  for (const fs::path& sub : SubFolders(folder)) KillProcessesOnce(sub);
  KillMembers(folder);
}

int64_t ReadCounter(const fs::path& file, std::string_view key) {
  const absl::StatusOr<std::string> text = ReadSmallFile(file);
  if (!text.ok()) return 0;
  for (const auto line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const bool whole = key.empty() && words.size() == 1;
    int64_t value = 0;
    if ((whole || (words.size() == 2 && words[0] == key)) &&
        absl::SimpleAtoi(words.back(), &value)) {
      return value;
    }
  }
  return 0;
}

bool WaitForKilled(int& waited_steps) {
  if (waited_steps >= kKillStepsMax) return false;
  const timespec pause = {.tv_sec = 0, .tv_nsec = ++waited_steps * 1'000'000L};
  nanosleep(&pause, nullptr);
  return true;
}

}  // namespace houtu::agent
