#include "agent/logs/log_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "absl/strings/numbers.h"
#include "agent/executor/log_format.h"
#include "agent/partitions/files.h"
#include "common/base/status.h"

namespace houtu::agent {

namespace fs = std::filesystem;

LogPaths LogStore::Kept(const AttemptKey& id) const {
  const fs::path base = root_ / id.job / FolderName(id);
  return {.head = base.native() + ".head", .ring = base.native() + ".ring"};
}

void LogStore::AddLive(const AttemptKey& id, const fs::path& task_dir) {
  const std::lock_guard lock(mutex_);
  live_[id] = task_dir;
}

absl::Status LogStore::Keep(const AttemptKey& id, const fs::path& task_dir) {
  const LogPaths kept = Kept(id);
  const fs::path head = task_dir / kLogHeadName;
  int failed = rename(head.c_str(), kept.head.c_str()) == 0 ? 0 : errno;
  if (failed == ENOENT && access(head.c_str(), F_OK) == 0) {
    HOUTU_RETURN_IF_ERROR(MakeFolders(kept.head.parent_path()));
    failed = rename(head.c_str(), kept.head.c_str()) == 0 ? 0 : errno;
  }
  // The ring comes second: a reader between the two sees a head that is whole.
  if (failed == 0) {
    rename((task_dir / kLogRingName).c_str(), kept.ring.c_str());
  }
  const std::lock_guard lock(mutex_);
  live_.erase(id);
  return failed == 0 || failed == ENOENT ? absl::OkStatus()
                                         : ErrnoError(failed, kept.head.native());
}

std::optional<LogStore::Place> LogStore::Find(const AttemptKey& asked) const {
  AttemptKey id = asked;
  if (id.attempt == 0) {
    id.attempt = NewestAttempt(id);
  }
  const std::lock_guard lock(mutex_);
  if (const auto it = live_.find(id); it != live_.end()) {
    return Place{.id = id,
                 .paths = {.head = it->second / kLogHeadName, .ring = it->second / kLogRingName},
                 .live = true};
  }
  LogPaths kept = Kept(id);
  if (access(kept.head.c_str(), F_OK) != 0) {
    return std::nullopt;
  }
  return Place{.id = id, .paths = std::move(kept)};
}

int LogStore::NewestAttempt(const AttemptKey& id) const {
  int newest = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, path] : live_) {
      if (key.job == id.job && key.stage == id.stage && key.task == id.task) {
        newest = std::max(newest, key.attempt);
      }
    }
  }
  const std::string prefix = fmt::format("{}.{}.", id.stage, id.task);
  std::error_code error;
  for (fs::directory_iterator it(root_ / id.job, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().stem().native();
    int attempt = 0;
    if (name.starts_with(prefix) && absl::SimpleAtoi(name.substr(prefix.size()), &attempt)) {
      newest = std::max(newest, attempt);
    }
  }
  return newest;
}

absl::Status LogStore::Forget(const std::string& job) const { return RemoveTree(root_ / job); }

}  // namespace houtu::agent
