#include "agent/runtime/exit_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/executor/status_format.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr size_t kEventsBytes = 64 << 10;

void CloseIfOpen(int fd) {
  if (fd >= 0) close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExitWatcher>> ExitWatcher::Create() {
  const int inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (inotify_fd < 0) return ErrnoError(errno, "inotify");
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) {
    const absl::Status error = ErrnoError(errno, "eventfd");
    close(inotify_fd);
    return error;
  }
  return std::unique_ptr<ExitWatcher>(new ExitWatcher(inotify_fd, wake_fd));
}

ExitWatcher::ExitWatcher(int inotify_fd, int wake_fd)
    : inotify_fd_(inotify_fd), wake_fd_(wake_fd), thread_([this] { Run(); }) {}

ExitWatcher::~ExitWatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
  for (auto& [id, lease] : leases_) CloseIfOpen(lease.pid_fd);
  close(inotify_fd_);
  close(wake_fd_);
}

absl::Status ExitWatcher::Watch(const std::string& lease_id, const LeaseFolder& folder, int pid_fd,
                                OnExit on_exit, OnEnd on_end) {
  Unwatch(lease_id);
  const std::lock_guard lock(mutex_);
  Lease& lease =
      leases_
          .emplace(lease_id,
                   Lease{folder, pid_fd, std::move(on_exit), std::move(on_end), false, {}, {}})
          .first->second;
  absl::StatusOr<std::vector<AttemptKey>> started = folder.Started();
  absl::Status status = started.status();
  for (const AttemptKey& id : started.ok() ? *started : std::vector<AttemptKey>()) {
    const absl::StatusOr<std::optional<TaskExit>> exit = folder.ReadExit(id);
    const bool told_before = exit.ok() && exit->has_value();
    if (status.ok() && !told_before) status = AddTo(lease, lease_id, id);
  }
  if (status.ok()) {
    Wake();
  } else {
    Close(lease);
    leases_.erase(lease_id);
  }
  return status;
}

void ExitWatcher::Unwatch(const std::string& lease_id) {
  std::unique_lock lock(mutex_);
  if (const auto it = leases_.find(lease_id); it != leases_.end()) {
    Close(it->second);
    leases_.erase(it);
  }
  if (std::this_thread::get_id() == thread_.get_id()) return;
  called_.wait(lock, [&] { return calling_ != lease_id; });
}

absl::Status ExitWatcher::AddAttempt(const std::string& lease_id, const AttemptKey& id) {
  const std::lock_guard lock(mutex_);
  const auto it = leases_.find(lease_id);
  return it == leases_.end() ? absl::OkStatus() : AddTo(it->second, lease_id, id);
}

void ExitWatcher::DropAttempt(const std::string& lease_id, const AttemptKey& id) {
  const std::lock_guard lock(mutex_);
  const auto it = leases_.find(lease_id);
  if (it == leases_.end()) return;
  for (const auto& [watch, attempt] : it->second.attempts) {
    if (attempt != id) continue;
    Forget(it->second, watch);
    return;
  }
}

absl::Status ExitWatcher::AddTo(Lease& lease, const std::string& lease_id, const AttemptKey& id) {
  const std::filesystem::path folder = lease.folder.task(id);
  const int watch =
      inotify_add_watch(inotify_fd_, folder.c_str(), IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
  // An attempt's folder may be gone from before: it was reaped, its mark stayed.
  if (watch < 0 && errno == ENOENT) return absl::OkStatus();
  if (watch < 0) return ErrnoError(errno, "watch of " + folder.native());
  lease.attempts.emplace(watch, id);
  lease_of_watch_[watch] = lease_id;
  // What was renamed before the watch stood makes no event.
  CollectExit(lease, watch);
  if (!lease.due.empty()) Wake();
  return absl::OkStatus();
}

void ExitWatcher::Run() {
  while (Wait()) {
    std::unique_lock lock(mutex_);
    ReadEvents();
    while (CallNext(lock)) {
    }
  }
}

/// False: the watcher is being destroyed.
bool ExitWatcher::Wait() {
  std::vector<pollfd> fds = {{wake_fd_, POLLIN, 0}, {inotify_fd_, POLLIN, 0}};
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    for (auto& [id, lease] : leases_) {
      // Ended before it was watched: there is nothing to wait for.
      if (!lease.due.empty() || (!lease.ended && lease.pid_fd < 0)) return true;
      if (!lease.ended) fds.push_back({lease.pid_fd, POLLIN, 0});
    }
  }
  // A descriptor that was closed meanwhile comes with a wake-up; then all are gathered anew.
  poll(fds.data(), fds.size(), -1);
  uint64_t ignored;
  [[maybe_unused]] const ssize_t n = read(wake_fd_, &ignored, sizeof(ignored));
  return true;
}

void ExitWatcher::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof(one));
}

void ExitWatcher::ReadEvents() {
  alignas(inotify_event) char events[kEventsBytes];
  for (ssize_t n; (n = read(inotify_fd_, events, sizeof(events))) > 0;) {
    for (const char* at = events; at < events + n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      const bool is_status = event->len > 0 && std::string_view(event->name) == kStatusName;
      const auto owner = lease_of_watch_.find(event->wd);
      if (!is_status || owner == lease_of_watch_.end()) continue;
      CollectExit(leases_.at(owner->second), event->wd);
    }
  }
  for (auto& [id, lease] : leases_) CollectEnd(lease);
}

/// Makes the attempt's exit due if it is recorded. A file that is no status (the task put it there)
/// is passed over: the executor's own comes.
void ExitWatcher::CollectExit(Lease& lease, int watch) {
  const absl::StatusOr<std::optional<TaskExit>> exit =
      lease.folder.ReadExit(lease.attempts.at(watch));
  if (!exit.ok() || !exit->has_value()) return;
  lease.due.push_back([on_exit = lease.on_exit, exit = **exit] { on_exit(exit); });
  Forget(lease, watch);
}

void ExitWatcher::CollectEnd(Lease& lease) {
  if (lease.ended) return;
  pollfd process = {lease.pid_fd, POLLIN, 0};
  if (lease.pid_fd >= 0 && poll(&process, 1, 0) <= 0) return;
  lease.ended = true;
  if (lease.pid_fd >= 0) {
    // Where the agent is its parent (it is its pid namespace's first process), nobody else reaps
    // it.
    waitid(P_PIDFD, static_cast<id_t>(lease.pid_fd), nullptr, WEXITED | WNOHANG);
  }
  // The last exits may have been recorded after their events were read.
  std::vector<int> watches;
  for (const auto& [watch, id] : lease.attempts) watches.push_back(watch);
  for (const int watch : watches) CollectExit(lease, watch);
  lease.due.push_back(lease.on_end);
}

/// Makes one due callback, without the lock; false: none is due.
bool ExitWatcher::CallNext(std::unique_lock<std::mutex>& lock) {
  const auto next = std::find_if(leases_.begin(), leases_.end(),
                                 [](const auto& entry) { return !entry.second.due.empty(); });
  if (stopping_ || next == leases_.end()) return false;
  const std::function<void()> call = std::move(next->second.due.front());
  next->second.due.pop_front();
  calling_ = next->first;
  lock.unlock();
  call();
  lock.lock();
  calling_.clear();
  called_.notify_all();
  return true;
}

void ExitWatcher::Forget(Lease& lease, int watch) {
  inotify_rm_watch(inotify_fd_, watch);
  lease.attempts.erase(watch);
  lease_of_watch_.erase(watch);
}

void ExitWatcher::Close(Lease& lease) {
  while (!lease.attempts.empty()) Forget(lease, lease.attempts.begin()->first);
  CloseIfOpen(lease.pid_fd);
  Wake();
}

}  // namespace houtu::agent
