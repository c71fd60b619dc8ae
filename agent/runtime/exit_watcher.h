// ExitWatcher: tells of tasks' ends (a status file is renamed into the attempt's folder: inotify)
// and containers' ends (pidfd), from a thread of its own.
//
//   Watch --> [attempts without an exit] --status appears--> on_exit, once each
//             [first process]            --it ends--> the exits left, then on_container_end
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/runtime/container_runtime.h"
#include "agent/runtime/lease_folder.h"

namespace houtu::agent {

/// Owner: RuncRuntime. Thread-safe. Callbacks run one at a time; they may call the watcher.
class ExitWatcher {
 public:
  using OnExit = std::function<void(const TaskExit&)>;
  using OnEnd = std::function<void()>;

  /// RESOURCE_EXHAUSTED, INTERNAL: no inotify instance or descriptor is left.
  static absl::StatusOr<std::unique_ptr<ExitWatcher>> Create();
  /// Joins the thread: no callback runs from then on.
  ~ExitWatcher();
  ExitWatcher(const ExitWatcher&) = delete;
  ExitWatcher& operator=(const ExitWatcher&) = delete;

  /// Replaces a watch of that lease. `pid_fd`: the first process's, owned from here; -1: it has
  /// ended, which is told at once. As ErrnoError says: nothing is watched.
  absl::Status Watch(const std::string& lease_id, const LeaseFolder& folder, int pid_fd,
                     OnExit on_exit, OnEnd on_end);
  /// No callback of that lease runs once it has returned, but for one that calls it.
  void Unwatch(const std::string& lease_id);

  /// Before a task's start: its exit is to be told. OK where nobody watches the lease.
  absl::Status AddAttempt(const std::string& lease_id, const AttemptKey& id);
  /// The start failed.
  void DropAttempt(const std::string& lease_id, const AttemptKey& id);

 private:
  struct Lease {
    LeaseFolder folder;
    int pid_fd = -1;
    OnExit on_exit;
    OnEnd on_end;
    bool ended = false;
    /// By inotify's watch number.
    std::map<int, AttemptKey> attempts;
    /// Callbacks to make; they go with the lease.
    std::deque<std::function<void()>> due;
  };

  ExitWatcher(int inotify_fd, int wake_fd);

  void Run();
  bool Wait();
  void Wake();
  void ReadEvents();
  void CollectExit(Lease& lease, int watch);
  void CollectEnd(Lease& lease);
  bool CallNext(std::unique_lock<std::mutex>& lock);
  absl::Status AddTo(Lease& lease, const std::string& lease_id, const AttemptKey& id);
  void Forget(Lease& lease, int watch);
  void Close(Lease& lease);

  const int inotify_fd_;
  const int wake_fd_;

  std::mutex mutex_;
  std::condition_variable called_;
  bool stopping_ = false;
  std::map<std::string, Lease> leases_;
  std::map<int, std::string> lease_of_watch_;
  /// The lease whose callback runs now; empty: none.
  std::string calling_;

  std::thread thread_;
};

}  // namespace houtu::agent
