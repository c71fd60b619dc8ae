#include "agent/runtime/lease_folder.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "agent/executor/protocol.h"
#include "agent/executor/status_format.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr size_t kStatusBytesMax = 4096;

/// A folder of that owner; OK if it exists.
absl::Status MakeFolder(const fs::path& folder, uint32_t owner) {
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoError(errno, folder.native());
  }
  if (lchown(folder.c_str(), owner, owner) != 0) return ErrnoError(errno, folder.native());
  return absl::OkStatus();
}

std::map<std::string, int64_t> ParseKeyValues(std::string_view text) {
  std::map<std::string, int64_t> values;
  for (const auto line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(line, absl::MaxSplits('=', 1));
    int64_t value = 0;
    if (absl::SimpleAtoi(pair.second, &value)) values[pair.first] = value;
  }
  return values;
}

std::string ReadLink(const fs::path& link) {
  char target[PATH_MAX];
  const ssize_t n = readlink(link.c_str(), target, sizeof(target));
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : std::string();
}

/// ext4 gives a new inode none that was deleted in the last seconds, and looks through all of these
/// one by one; with a few files for each of hundreds of tasks a second in one block group that was
/// a quarter of the machine's time. Folders below one with this flag go to block groups of their
/// own. Only a hint: other file systems know no such flag, and nothing depends on it.
void SpreadSubfolders(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_TOPDIR_FL;
    ioctl(fd, FS_IOC_SETFLAGS, &flags);
  }
  close(fd);
}

}  // namespace

absl::Status LeaseFolder::Prepare(uint32_t uid_base) const {
  SpreadSubfolders(dir_.parent_path());
  HOUTU_RETURN_IF_ERROR(MakeFolder(dir_, 0));
  HOUTU_RETURN_IF_ERROR(MakeFolder(io(), 0));
  HOUTU_RETURN_IF_ERROR(MakeFolder(tasks(), 0));
  SpreadSubfolders(tasks());
  HOUTU_RETURN_IF_ERROR(MakeFolder(ctl(), uid_base));
  HOUTU_RETURN_IF_ERROR(MakeFolder(run(), 0));
  HOUTU_RETURN_IF_ERROR(MakeFolder(started(), 0));
  // Left by an earlier container of this lease; a present `ready` must mean this one.
  unlink((ctl() / kExecutorReadyName).c_str());
  return absl::OkStatus();
}

absl::Status LeaseFolder::MarkStarted(const AttemptKey& id) const {
  // A link, because it is made with its content in one atomic call.
  const fs::path mark = started() / FolderName(id);
  if (symlink(id.job.c_str(), mark.c_str()) == 0) return absl::OkStatus();
  if (errno == EEXIST) {
    return Error(absl::StatusCode::kAlreadyExists, "{} was started before in this lease",
                 Describe(id));
  }
  if (errno == ENOENT) {
    return Error(absl::StatusCode::kUnavailable, "{}: the lease has no container", dir_.native());
  }
  return ErrnoError(errno, mark.native());
}

void LeaseFolder::UnmarkStarted(const AttemptKey& id) const {
  unlink((started() / FolderName(id)).c_str());
}

absl::StatusOr<std::vector<AttemptKey>> LeaseFolder::Started() const {
  std::vector<AttemptKey> found;
  std::error_code error;
  for (fs::directory_iterator it(started(), error), end; it != end; it.increment(error)) {
    const std::string job = ReadLink(it->path());
    if (auto id = ParseFolderName(it->path().filename().native(), job)) found.push_back(*id);
    if (error) break;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError(error.value(), started().native());
  }
  std::sort(found.begin(), found.end());
  return found;
}

absl::StatusOr<std::optional<TaskExit>> LeaseFolder::ReadExit(const AttemptKey& id) const {
  const fs::path file = task(id) / kStatusName;
  absl::StatusOr<std::string> text = ReadSmallFile(file, kStatusBytesMax);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  if (!text.ok()) return text.status();
  std::optional<TaskExit> exit = ParseStatus(*text, id);
  if (!exit) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "{}: not a status of houtu-executor; the task has overwritten it", file.native());
  }
  return exit;
}

std::string ContainerTaskDir(const AttemptKey& id) {
  return std::string(kContainerIo) + "/t/" + FolderName(id);
}

absl::Status PrepareTaskDir(const fs::path& lease_dir, const AttemptKey& id, uint32_t uid_base) {
  const fs::path folder = LeaseFolder(lease_dir).task(id);
  HOUTU_RETURN_IF_ERROR(MakeFolder(folder, uid_base));
  HOUTU_RETURN_IF_ERROR(MakeFolder(folder / "in", 0));
  HOUTU_RETURN_IF_ERROR(MakeFolder(folder / "out", uid_base));
  return MakeFolder(folder / "work", uid_base);
}

std::optional<AttemptKey> ParseFolderName(std::string_view name, std::string_view job) {
  const size_t second = name.rfind('.');
  if (second == std::string_view::npos || second == 0) return std::nullopt;
  const size_t first = name.rfind('.', second - 1);
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  AttemptKey id{.job = std::string(job), .stage = std::string(name.substr(0, first))};
  const std::string task(name.substr(first + 1, second - first - 1));
  const std::string attempt(name.substr(second + 1));
  if (!absl::SimpleAtoi(task, &id.task) || !absl::SimpleAtoi(attempt, &id.attempt)) {
    return std::nullopt;
  }
  return id;
}

std::optional<TaskExit> ParseStatus(std::string_view text, const AttemptKey& id) {
  const std::map<std::string, int64_t> values = ParseKeyValues(text);
  for (const char* key : {kStatusExit, kStatusSignal, kStatusStarted, kStatusEnded}) {
    if (!values.contains(key)) return std::nullopt;
  }
  const auto flag = [&values](const char* key) {
    const auto it = values.find(key);
    return it != values.end() && it->second != 0;
  };
  return TaskExit{
      .id = id,
      .exit_status = static_cast<int>(values.at(kStatusExit)),
      .signal = static_cast<int>(values.at(kStatusSignal)),
      .timed_out = flag(kStatusTimedOut),
      .stopped = flag(kStatusStopped),
      .started_at = absl::FromUnixNanos(values.at(kStatusStarted)),
      .ended_at = absl::FromUnixNanos(values.at(kStatusEnded)),
  };
}

}  // namespace houtu::agent
