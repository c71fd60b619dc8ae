// LogStore: where each attempt's log is: in its task's folder while it runs, then with its job
// until the retention ends.
//
//   <root>/<job>/<stage.task.attempt>.head, .ring
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "agent/logs/log_reader.h"
#include "common/base/ids.h"

namespace houtu::agent {

/// Owner: the agent's shell. Thread-safe.
class LogStore {
 public:
  explicit LogStore(std::filesystem::path root) : root_(std::move(root)) {}

  /// The attempt runs: its log is written below `task_dir`.
  void AddLive(const AttemptKey& id, const std::filesystem::path& task_dir);
  /// The attempt ended: its log is moved to its job's. As ErrnoError says; then the log is lost.
  absl::Status Keep(const AttemptKey& id, const std::filesystem::path& task_dir);

  struct Place {
    AttemptKey id;
    LogPaths paths;
    /// The attempt has not ended: more may come.
    bool live = false;
  };
  /// The attempt's log; with attempt 0 the newest here. nullopt: none.
  std::optional<Place> Find(const AttemptKey& id) const;

  /// Deletes the job's logs.
  absl::Status Forget(const std::string& job) const;

 private:
  LogPaths Kept(const AttemptKey& id) const;
  int NewestAttempt(const AttemptKey& id) const;

  const std::filesystem::path root_;
  mutable std::mutex mutex_;
  std::map<AttemptKey, std::filesystem::path> live_;
};

}  // namespace houtu::agent
