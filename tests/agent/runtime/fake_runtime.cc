#include "tests/agent/runtime/fake_runtime.h"

#include <csignal>
#include <functional>
#include <utility>

#include "common/base/status.h"

namespace houtu::testing {

using agent::ContainerState;
using agent::TaskExit;

void FakeRuntime::EndTask(const std::filesystem::path& lease_dir, const AttemptKey& id,
                          int exit_status, int signal) {
  const std::lock_guard lock(node_->mutex);
  if (FindRunning(lease_dir, id) == nullptr) return;
  End(lease_dir, id, {.exit_status = exit_status, .signal = signal});
}

void FakeRuntime::EndContainer(const std::filesystem::path& lease_dir) {
  const std::lock_guard lock(node_->mutex);
  node_->leases[lease_dir].state = ContainerState::kStopped;
  TellEnd(lease_dir);
}

absl::Status FakeRuntime::StartContainer(const agent::ContainerSpec& spec) {
  if (!knobs.start_container.ok()) return knobs.start_container;
  const std::lock_guard lock(node_->mutex);
  FakeNode::Lease& lease = node_->leases[spec.lease_dir];
  lease.spec = spec;
  lease.state = ContainerState::kRunning;
  return absl::OkStatus();
}

absl::Status FakeRuntime::DestroyContainer(const std::string& lease_id,
                                           const std::filesystem::path& lease_dir) {
  static_cast<void>(lease_id);
  if (!knobs.destroy_container.ok()) return knobs.destroy_container;
  const std::lock_guard lock(node_->mutex);
  const auto it = node_->leases.find(lease_dir);
  if (it == node_->leases.end()) return absl::OkStatus();
  if (it->second.state == ContainerState::kRunning) TellEnd(lease_dir);
  it->second.state = ContainerState::kAbsent;
  for (auto& [id, attempt] : it->second.attempts) attempt.reaped = true;
  return absl::OkStatus();
}

absl::StatusOr<ContainerState> FakeRuntime::Inspect(const std::string& lease_id,
                                                    const std::filesystem::path& lease_dir) {
  static_cast<void>(lease_id);
  if (!knobs.inspect.ok()) return knobs.inspect;
  const std::lock_guard lock(node_->mutex);
  const auto it = node_->leases.find(lease_dir);
  return it == node_->leases.end() ? ContainerState::kAbsent : it->second.state;
}

absl::Status FakeRuntime::StartTask(const std::filesystem::path& lease_dir,
                                    const agent::TaskLaunch& launch) {
  if (!knobs.start_task.ok()) return knobs.start_task;
  const std::lock_guard lock(node_->mutex);
  FakeNode::Lease& lease = node_->leases[lease_dir];
  if (lease.state != ContainerState::kRunning) {
    return absl::UnavailableError("the lease's container does not run");
  }
  if (lease.attempts.contains(launch.id)) {
    return absl::AlreadyExistsError(Describe(launch.id) + " was started before in this lease");
  }
  const auto program = node_->programs.find(launch.command.front());
  if (program == node_->programs.end()) {
    return absl::NotFoundError(launch.command.front() + ": no such program");
  }
  if (!program->second.start.ok()) return program->second.start;
  ++node_->clock;
  lease.attempts.emplace(launch.id, FakeNode::Attempt{.program = program->second});
  if (!program->second.lasts) {
    End(lease_dir, launch.id,
        {.exit_status = program->second.exit_status, .signal = program->second.signal});
  } else if (launch.timeout) {
    const int signal = program->second.ignores_term ? SIGKILL : SIGTERM;
    End(lease_dir, launch.id, {.exit_status = -1, .signal = signal, .timed_out = true});
  }
  return absl::OkStatus();
}

absl::Status FakeRuntime::StopTask(const std::filesystem::path& lease_dir, const AttemptKey& id,
                                   absl::Duration grace) {
  static_cast<void>(grace);
  if (!knobs.stop_task.ok()) return knobs.stop_task;
  const std::lock_guard lock(node_->mutex);
  const FakeNode::Attempt* attempt = FindRunning(lease_dir, id);
  if (attempt == nullptr) return absl::NotFoundError(Describe(id) + " does not run");
  const int signal = attempt->program.ignores_term ? SIGKILL : SIGTERM;
  End(lease_dir, id, {.exit_status = -1, .signal = signal, .stopped = true});
  return absl::OkStatus();
}

absl::StatusOr<agent::TaskUsage> FakeRuntime::ReapTask(const std::filesystem::path& lease_dir,
                                                       const AttemptKey& id) {
  if (!knobs.reap_task.ok()) return knobs.reap_task;
  const std::lock_guard lock(node_->mutex);
  auto& attempts = node_->leases[lease_dir].attempts;
  const auto it = attempts.find(id);
  if (it == attempts.end() || std::exchange(it->second.reaped, true)) return agent::TaskUsage{};
  return it->second.program.usage;
}

absl::StatusOr<std::vector<TaskExit>> FakeRuntime::ListExits(
    const std::filesystem::path& lease_dir) {
  if (!knobs.list_exits.ok()) return knobs.list_exits;
  const std::lock_guard lock(node_->mutex);
  std::vector<TaskExit> exits;
  for (const auto& [id, attempt] : node_->leases[lease_dir].attempts) {
    if (attempt.exit) exits.push_back(*attempt.exit);
  }
  return exits;
}

absl::StatusOr<std::vector<AttemptKey>> FakeRuntime::ListRunning(
    const std::filesystem::path& lease_dir) {
  if (!knobs.list_running.ok()) return knobs.list_running;
  const std::lock_guard lock(node_->mutex);
  std::vector<AttemptKey> running;
  for (const auto& [id, attempt] : node_->leases[lease_dir].attempts) {
    if (!attempt.exit) running.push_back(id);
  }
  return running;
}

absl::Status FakeRuntime::Watch(const std::string& lease_id, const std::filesystem::path& lease_dir,
                                std::function<void(const TaskExit&)> on_exit,
                                std::function<void()> on_container_end) {
  if (!knobs.watch.ok()) return knobs.watch;
  const std::lock_guard lock(node_->mutex);
  watchers_[lease_id] = std::make_shared<Watcher>(
      Watcher{lease_dir, std::move(on_exit), std::move(on_container_end)});
  if (node_->leases[lease_dir].state != ContainerState::kRunning) TellEnd(lease_dir);
  return absl::OkStatus();
}

void FakeRuntime::Unwatch(const std::string& lease_id) {
  const std::lock_guard lock(node_->mutex);
  watchers_.erase(lease_id);
}

FakeNode::Attempt* FakeRuntime::FindRunning(const std::filesystem::path& lease_dir,
                                            const AttemptKey& id) {
  FakeNode::Lease& lease = node_->leases[lease_dir];
  const auto it = lease.attempts.find(id);
  const bool runs = lease.state == ContainerState::kRunning && it != lease.attempts.end() &&
                    !it->second.exit.has_value();
  return runs ? &it->second : nullptr;
}

void FakeRuntime::End(const std::filesystem::path& lease_dir, const AttemptKey& id, TaskExit exit) {
  exit.id = id;
  exit.started_at = absl::FromUnixSeconds(node_->clock);
  exit.ended_at = absl::FromUnixSeconds(++node_->clock);
  node_->leases[lease_dir].attempts[id].exit = exit;
  if (const auto watcher = WatcherOf(lease_dir)) {
    callbacks_.Submit([watcher, exit] { watcher->on_exit(exit); });
  }
}

void FakeRuntime::TellEnd(const std::filesystem::path& lease_dir) {
  if (const auto watcher = WatcherOf(lease_dir)) {
    callbacks_.Submit([watcher] { watcher->on_container_end(); });
  }
}

std::shared_ptr<FakeRuntime::Watcher> FakeRuntime::WatcherOf(
    const std::filesystem::path& lease_dir) {
  for (const auto& [id, watcher] : watchers_) {
    if (watcher->lease_dir == lease_dir) return watcher;
  }
  return nullptr;
}

}  // namespace houtu::testing
