// Coordination in memory: the store and its sessions, for simulation and unit tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/coordination/coordination.h"
#include "common/coordination/memory_tree.h"

namespace houtu::coordination {

class MemoryCoordination;

/// What a one-shot watch waits for: a change of the node that is there, of its children, or the
/// coming of a node that is not.
enum class MemoryWatchKind { kData, kChildren, kExistence };

/// What several sessions share. No thread, clock or random source of its own: the same calls in
/// the same order give the same answers. Thread-safe. Owned by its sessions and the test, jointly.
class MemoryStore {
 public:
  MemoryStore() = default;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  /// The session's time is over: its ephemerals go now. A connected session is told at once, a
  /// disconnected one when it reconnects, as with a real store. An ended session that was not
  /// connected (a crash) is ended by this too.
  void ExpireSession(int64_t session);

 private:
  friend class MemoryCoordination;

  void EndSession(int64_t session);
  void Notify(const MemoryTree::Changes& changes);

  std::mutex mutex_;
  MemoryTree tree_;
  int64_t next_session_ = 1;
  std::map<int64_t, MemoryCoordination*> sessions_;
};

/// One session of a MemoryStore. Operations take effect inside the call; the answer is posted.
/// Its end closes the session if it is connected; else its ephemerals stay until
/// MemoryStore::ExpireSession, as after a crash.
class MemoryCoordination final : public Coordination {
 public:
  MemoryCoordination(std::shared_ptr<MemoryStore> store, Post post,
                     size_t record_bytes_max = kRecordBytesMax);
  ~MemoryCoordination() override;

  int64_t session_id() const override { return session_; }

  // Faults; thread-safe.

  /// The connection breaks: kSuspended.
  void Disconnect();
  /// The write after the next `skipped` ones takes effect, but the connection breaks before its
  /// answer (DEADLINE_EXCEEDED).
  void LoseAnswerOfWrite(int skipped = 0);
  /// kConnected again, and the watches of what changed meanwhile are called; kExpired if the
  /// session's time passed.
  void Reconnect();

 private:
  friend class MemoryStore;

  struct PathWatch {
    MemoryWatchKind kind;
    Watch watch;
  };

  void DoCreate(const std::string& path, std::string data, CreateFlags flags,
                Callback<std::string> done) override;
  void DoGet(const std::string& path, Callback<Node> done, Watch watch) override;
  void DoSet(const std::string& path, std::string data, int32_t version,
             Callback<Stat> done) override;
  void DoDelete(const std::string& path, int32_t version, Done done) override;
  void DoGetChildren(const std::string& path, Callback<Children> done, Watch watch) override;
  void DoExists(const std::string& path, Callback<std::optional<Stat>> done, Watch watch) override;
  void DoMulti(std::vector<Op> ops, std::function<void(MultiResult)> done) override;

  // All below with the store's mutex held.
  MultiResult Write(const std::vector<Op>& ops);
  absl::Status CheckConnected() const;
  void AddWatch(const std::string& path, MemoryWatchKind kind, Watch watch);
  void Break(int64_t seen_zxid);
  void CallWatches(const std::string& path, WatchEvent event);
  void OnChange(const MemoryTree::Change& change);
  void TellMissedChanges();
  void OnExpired();

  const std::shared_ptr<MemoryStore> store_;
  int64_t session_ = 0;
  bool connected_ = true;
  bool expired_ = false;
  int writes_until_lost_answer_ = 0;  // 0: none is to be lost
  int64_t seen_zxid_ = 0;             // the store's last write when the connection broke
  std::multimap<std::string, PathWatch> watches_;
};

}  // namespace houtu::coordination
