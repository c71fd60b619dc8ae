// MemoryTree: the tree of versioned nodes, with ZooKeeper's rules and counters. A value, no
// sessions, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/coordination/types.h"

namespace houtu::coordination {

/// The nodes by path. Each write that succeeds has the next zxid; one multi is one write.
/// Owner: a MemoryStore, with its mutex held. Status codes as Coordination's.
class MemoryTree {
 public:
  /// What watches are told.
  struct Change {
    std::string path;
    WatchEvent event;
  };

  /// What a write did, for the watches.
  using Changes = std::vector<Change>;

  MemoryTree();

  absl::StatusOr<Node> Get(const std::string& path) const;
  absl::StatusOr<Children> GetChildren(const std::string& path) const;

  /// All ops or none. `session` owns the ephemerals.
  MultiResult Apply(const std::vector<Op>& ops, int64_t session, Changes* changes);

  /// Removes the session's ephemerals, as one write.
  void RemoveEphemerals(int64_t session, Changes* changes);

  /// The last write.
  int64_t zxid() const { return zxid_; }

 private:
  struct Entry {
    Node node;
    int32_t creations = 0;  // of children; numbers the sequential ones
  };
  using Entries = std::map<std::string, Entry>;

  absl::Status ApplyOne(const CreateOp& op, int64_t session, OpResult* result);
  absl::Status ApplyOne(const SetOp& op, int64_t session, OpResult* result);
  absl::Status ApplyOne(const DeleteOp& op, int64_t session, OpResult* result);
  absl::Status ApplyOne(const CheckOp& op, int64_t session, OpResult* result);
  absl::StatusOr<Entry*> Find(const std::string& path, int32_t version);
  void Remove(const std::string& path);
  void CountChild(const std::string& parent_path, int change);
  Entry* Writable(const std::string& path);
  void Undo();

  Entries entries_;
  int64_t zxid_ = 0;
  // Of the write under way: what to tell, and how the touched nodes were (empty: not there).
  Changes changes_;
  std::map<std::string, std::optional<Entry>> before_;
};

/// "/a" of "/a/b", "/" of "/a".
std::string ParentPath(const std::string& path);

}  // namespace houtu::coordination
