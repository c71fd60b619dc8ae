// FakeRuntime: a ContainerRuntime without containers, for tests of what stands on one.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/runtime/container_runtime.h"
#include "common/loop/worker_pool.h"

namespace houtu::testing {

/// What a program of the fake node does, by its command's first word.
struct FakeProgram {
  /// StartTask's answer; not OK: it never runs.
  absl::Status start = absl::OkStatus();
  /// It runs until StopTask, its timeout (which has passed as soon as it starts) or EndTask.
  bool lasts = false;
  /// SIGTERM does nothing to it, SIGKILL does.
  bool ignores_term = false;
  /// How it ends by itself.
  int exit_status = 0;
  int signal = 0;
  /// What its cgroup counted.
  agent::TaskUsage usage;
};

/// The state of a node, which outlives the runtimes that work on it.
class FakeNode {
 public:
  FakeNode() = default;

  std::mutex mutex;
  std::map<std::string, FakeProgram> programs;

  struct Attempt {
    FakeProgram program;
    std::optional<agent::TaskExit> exit;
    bool reaped = false;
  };
  struct Lease {
    agent::ContainerSpec spec;
    agent::ContainerState state = agent::ContainerState::kAbsent;
    std::map<AttemptKey, Attempt> attempts;
  };
  /// By the lease's folder.
  std::map<std::string, Lease> leases;
  /// Seconds of the node's own clock: one more with each start and end.
  int64_t clock = 0;
};

/// As ContainerRuntime says. Thread-safe; callbacks come from a thread of its own.
class FakeRuntime : public agent::ContainerRuntime {
 public:
  /// Each call's error; OK: it works.
  struct Knobs {
    absl::Status start_container = absl::OkStatus();
    absl::Status destroy_container = absl::OkStatus();
    absl::Status inspect = absl::OkStatus();
    absl::Status start_task = absl::OkStatus();
    absl::Status stop_task = absl::OkStatus();
    absl::Status reap_task = absl::OkStatus();
    absl::Status list_exits = absl::OkStatus();
    absl::Status list_running = absl::OkStatus();
    absl::Status watch = absl::OkStatus();
  };

  explicit FakeRuntime(std::shared_ptr<FakeNode> node) : node_(std::move(node)) {}

  /// Set between calls; not guarded.
  Knobs knobs;

  /// A lasting program ends by itself.
  void EndTask(const std::filesystem::path& lease_dir, const AttemptKey& id, int exit_status,
               int signal);
  /// The container's first process ends, and all others with it.
  void EndContainer(const std::filesystem::path& lease_dir);

  absl::Status StartContainer(const agent::ContainerSpec& spec) override;
  absl::Status DestroyContainer(const std::string& lease_id,
                                const std::filesystem::path& lease_dir) override;
  absl::StatusOr<agent::ContainerState> Inspect(const std::string& lease_id,
                                                const std::filesystem::path& lease_dir) override;
  absl::Status StartTask(const std::filesystem::path& lease_dir,
                         const agent::TaskLaunch& launch) override;
  absl::Status StopTask(const std::filesystem::path& lease_dir, const AttemptKey& id,
                        absl::Duration grace) override;
  absl::StatusOr<agent::TaskUsage> ReapTask(const std::filesystem::path& lease_dir,
                                            const AttemptKey& id) override;
  absl::StatusOr<std::vector<agent::TaskExit>> ListExits(
      const std::filesystem::path& lease_dir) override;
  absl::StatusOr<std::vector<AttemptKey>> ListRunning(
      const std::filesystem::path& lease_dir) override;
  absl::Status Watch(const std::string& lease_id, const std::filesystem::path& lease_dir,
                     std::function<void(const agent::TaskExit&)> on_exit,
                     std::function<void()> on_container_end) override;
  void Unwatch(const std::string& lease_id) override;
  std::map<std::string, std::string> Features() override { return {{"runc", "fake"}}; }

 private:
  struct Watcher {
    std::filesystem::path lease_dir;
    std::function<void(const agent::TaskExit&)> on_exit;
    std::function<void()> on_container_end;
  };

  // All with the node's mutex held.
  FakeNode::Attempt* FindRunning(const std::filesystem::path& lease_dir, const AttemptKey& id);
  void End(const std::filesystem::path& lease_dir, const AttemptKey& id, agent::TaskExit exit);
  void TellEnd(const std::filesystem::path& lease_dir);
  std::shared_ptr<Watcher> WatcherOf(const std::filesystem::path& lease_dir);

  const std::shared_ptr<FakeNode> node_;
  std::map<std::string, std::shared_ptr<Watcher>> watchers_;
  /// Last, so that it is joined first.
  WorkerPool callbacks_{1};
};

}  // namespace houtu::testing
