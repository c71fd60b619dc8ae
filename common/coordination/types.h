// The values of the coordination interface: nodes, operations, session states, limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace houtu::coordination {

/// Most bytes of one record, and of all paths and data of one multi: half of what ZooKeeper takes.
/// Over its limit ZooKeeper does not answer but drops the connection, so that the write looks like
/// an outage.
inline constexpr size_t kRecordBytesMax = 512 * 1024;

/// What the limit may be configured to at most, in bytes: below ZooKeeper's own 1 MiB (headers
/// included).
inline constexpr size_t kRecordBytesCeiling = 1'000'000;

/// As the expected version: whatever the node's version is.
inline constexpr int32_t kAnyVersion = -1;

/// What is known of a node beside its data. Zxids number the writes of the whole store.
struct Stat {
  /// Writes of the data since the node's creation; 0 after the creation.
  int32_t version = 0;
  /// Changes of the list of children.
  int32_t cversion = 0;
  /// The write that created the node.
  int64_t czxid = 0;
  /// The write that changed the data last.
  int64_t mzxid = 0;
  /// The write that changed the list of children last.
  int64_t pzxid = 0;
  /// The session that an ephemeral node belongs to; 0: not ephemeral.
  int64_t ephemeral_owner = 0;
  int32_t num_children = 0;

  bool operator==(const Stat&) const = default;
};

struct Node {
  std::string data = {};
  Stat stat = {};

  bool operator==(const Node&) const = default;
};

struct Children {
  /// Names, not paths; sorted.
  std::vector<std::string> names = {};
  /// Of the parent.
  Stat stat = {};
};

struct CreateFlags {
  /// The node goes when its session ends; it can't have children.
  bool ephemeral = false;
  /// Ten digits, rising with each creation under the parent, are appended to the name.
  bool sequential = false;
};

struct CreateOp {
  std::string path = {};
  std::string data = {};
  CreateFlags flags = {};
};

struct SetOp {
  std::string path = {};
  std::string data = {};
  int32_t version = kAnyVersion;
};

struct DeleteOp {
  std::string path = {};
  int32_t version = kAnyVersion;
};

/// Nothing changes; the multi fails unless the node is there and has this version.
struct CheckOp {
  std::string path = {};
  int32_t version = kAnyVersion;
};

using Op = std::variant<CreateOp, SetOp, DeleteOp, CheckOp>;

struct OpResult {
  /// Of a CreateOp: the node's path, with its number if it is sequential.
  std::string path = {};
  /// Of a SetOp.
  Stat stat = {};
};

struct MultiResult {
  /// OK: every op was done, in this order, at once. Else none was done, except with
  /// DEADLINE_EXCEEDED, where either is possible.
  absl::Status status = {};
  /// The op that `status` is about; -1: none, or not known.
  int failed_op = -1;
  /// One for each op if OK, else empty.
  std::vector<OpResult> results = {};
};

enum class WatchEvent { kCreated, kDeleted, kChanged, kChildren };

/// What a session goes through:
///
///   kConnecting --> kConnected <--> kSuspended --> kExpired
///
enum class SessionState {
  /// Not yet connected for the first time.
  kConnecting,
  kConnected,
  /// The connection is lost; the session, its ephemerals and its watches may live on.
  kSuspended,
  /// The session is over and its ephemerals are gone. Final: make a new object.
  kExpired,
};

/// "connected": how a state reads in logs and metrics.
const char* Name(SessionState state);

}  // namespace houtu::coordination
