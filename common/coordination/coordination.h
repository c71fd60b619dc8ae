// Coordination: the interface with ZooKeeper's semantics. Versioned nodes, ephemerals, one-shot
// watches, atomic multis, sessions that can be lost. Two implementations: memory.h (simulation,
// unit tests) and zookeeper.h. Most users want the layers above: watch.h, election.h,
// ensure_path.h, and blocking.h for a start-up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/coordination/lifeline.h"
#include "common/coordination/types.h"

namespace houtu::coordination {

/// Runs a function later on the owner's thread, in the order posted (EventLoop::Post). Never at
/// once.
using Post = std::function<void(std::function<void()>)>;

using Done = std::function<void(absl::Status)>;
template <typename T>
using Callback = std::function<void(absl::StatusOr<T>)>;

/// A one-shot watch. Survives a lost connection (what changed meanwhile is told on the reconnect);
/// dropped without a call when the session expires.
using Watch = std::function<void(WatchEvent)>;

/// Ends a listener when it is destroyed; may outlive the Coordination.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<void> handle) : handle_(std::move(handle)) {}

 private:
  std::shared_ptr<void> handle_;
};

/// One session with the store.
///
/// Owner: a daemon's shell. Thread: all methods, the end included, on the thread that `post` leads
/// to, and every callback arrives there, never from inside a call. Answers of what was sent arrive
/// in the order of the calls. After the object's end no callback runs any more.
///
/// Status codes of every operation:
///   INVALID_ARGUMENT    the path is not "/a/b" (no empty part, ".", "..", control character).
///   NOT_FOUND           no such node; Create: no such parent.
///   ALREADY_EXISTS      Create: the node is there.
///   ABORTED             the node's version is not the expected one.
///   FAILED_PRECONDITION Delete: the node has children. Create: the parent is ephemeral.
///   RESOURCE_EXHAUSTED  the data, or a multi as a whole, is over the limit; nothing was sent, and
///                       path, size and limit are named.
///   UNAVAILABLE         no connection, and nothing was done: wait for kConnected (kExpired: make
///                       a new session). Reads: also when the connection broke meanwhile.
///   DEADLINE_EXCEEDED   writes only: sent, but the connection broke before the answer. The
///                       outcome is unknown: read before you repeat.
///   PERMISSION_DENIED   the node's ACL, set by somebody else, refuses.
class Coordination {
 public:
  virtual ~Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;

  /// Answers the new node's path, with its number if it is sequential.
  void Create(const std::string& path, std::string data, CreateFlags flags,
              Callback<std::string> done);

  /// Data and stat. `watch` (optional) is called once: when the data changes or the node goes. It
  /// is set only if the answer is OK.
  void Get(const std::string& path, Callback<Node> done, Watch watch = nullptr);

  /// Answers the new stat. `version`: the expected one, or kAnyVersion.
  void Set(const std::string& path, std::string data, int32_t version, Callback<Stat> done);

  void Delete(const std::string& path, int32_t version, Done done);

  /// `watch` (optional) is called once: when a child comes or goes, or the node goes. It is set
  /// only if the answer is OK.
  void GetChildren(const std::string& path, Callback<Children> done, Watch watch = nullptr);

  /// Empty: no such node (and OK). `watch` (optional) is called once: when the node comes, its data
  /// changes, or it goes.
  void Exists(const std::string& path, Callback<std::optional<Stat>> done, Watch watch = nullptr);

  /// All of the ops or none. An empty multi is OK and sends nothing.
  void Multi(std::vector<Op> ops, std::function<void(MultiResult)> done);

  /// The state as last told to the listeners. A new object is kConnecting.
  SessionState state() const { return state_; }

  /// Called with each later state until the Subscription goes; kExpired is told once and last.
  /// Listeners are called in the order added.
  Subscription OnSessionState(std::function<void(SessionState)> listener);

  /// The session's id (Stat::ephemeral_owner of its nodes); 0 before the first kConnected.
  virtual int64_t session_id() const = 0;

  /// The function given at construction. Thread-safe if that is.
  const Post& post() const { return post_; }

  size_t record_bytes_max() const { return record_bytes_max_; }

 protected:
  /// Precondition: record_bytes_max <= kRecordBytesCeiling.
  Coordination(Post post, size_t record_bytes_max);

  /// From any thread: posts that the session has this state. The same state twice is told once.
  void PostState(SessionState state);

  /// From any thread: posts `function`, which is dropped if the object has ended by then.
  template <typename Function>
  void PostGuarded(Function function) {
    post_(lifeline_.Guard(std::move(function)));
  }

 private:
  // Arguments are checked; `done` and `watch` must be called by PostGuarded. `done` is never
  // empty, `watch` may be.
  virtual void DoCreate(const std::string& path, std::string data, CreateFlags flags,
                        Callback<std::string> done) = 0;
  virtual void DoGet(const std::string& path, Callback<Node> done, Watch watch) = 0;
  virtual void DoSet(const std::string& path, std::string data, int32_t version,
                     Callback<Stat> done) = 0;
  virtual void DoDelete(const std::string& path, int32_t version, Done done) = 0;
  virtual void DoGetChildren(const std::string& path, Callback<Children> done, Watch watch) = 0;
  virtual void DoExists(const std::string& path, Callback<std::optional<Stat>> done,
                        Watch watch) = 0;
  virtual void DoMulti(std::vector<Op> ops, std::function<void(MultiResult)> done) = 0;

  using Listeners = std::map<uint64_t, std::function<void(SessionState)>>;

  void Tell(SessionState state);
  absl::Status CheckRecord(const std::string& path, size_t bytes) const;
  absl::Status CheckOps(const std::vector<Op>& ops, int* failed_op) const;

  Post post_;
  const size_t record_bytes_max_;
  SessionState state_ = SessionState::kConnecting;
  uint64_t next_listener_ = 1;
  std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  Lifeline lifeline_;
};

/// INVALID_ARGUMENT unless `path` is "/" or "/a/b" without empty, "." or ".." parts or control
/// characters.
absl::Status CheckPath(std::string_view path);

}  // namespace houtu::coordination
