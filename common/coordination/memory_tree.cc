#include "common/coordination/memory_tree.h"

#include <utility>
#include <variant>

#include "common/base/status.h"

namespace houtu::coordination {
namespace {

absl::Status NoNode(const std::string& path) {
  return Error(absl::StatusCode::kNotFound, "no node {}", path);
}

std::string ChildPrefix(const std::string& path) { return path == "/" ? path : path + "/"; }

}  // namespace

std::string ParentPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

MemoryTree::MemoryTree() { entries_.emplace("/", Entry{}); }

absl::StatusOr<Node> MemoryTree::Get(const std::string& path) const {
  const auto it = entries_.find(path);
  if (it == entries_.end()) return NoNode(path);
  return it->second.node;
}

absl::StatusOr<Children> MemoryTree::GetChildren(const std::string& path) const {
  const auto parent = entries_.find(path);
  if (parent == entries_.end()) return NoNode(path);
  Children children;
  children.stat = parent->second.node.stat;
  const std::string prefix = ChildPrefix(path);
  for (auto it = entries_.upper_bound(prefix); it != entries_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    const std::string name = it->first.substr(prefix.size());
    if (name.find('/') == std::string::npos) children.names.push_back(name);
  }
  return children;
}

MultiResult MemoryTree::Apply(const std::vector<Op>& ops, int64_t session, Changes* changes) {
  ++zxid_;
  changes_.clear();
  before_.clear();
  MultiResult multi;
  for (const Op& op : ops) {
    OpResult result;
    multi.status = std::visit([&](const auto& o) { return ApplyOne(o, session, &result); }, op);
    if (!multi.status.ok()) {
      multi.failed_op = static_cast<int>(multi.results.size());
      multi.results.clear();
      Undo();
      return multi;
    }
    multi.results.push_back(std::move(result));
  }
  *changes = std::move(changes_);
  return multi;
}

void MemoryTree::RemoveEphemerals(int64_t session, Changes* changes) {
  ++zxid_;
  changes_.clear();
  before_.clear();
  std::vector<std::string> paths;
  for (const auto& [path, entry] : entries_) {
    if (entry.node.stat.ephemeral_owner == session) paths.push_back(path);
  }
  for (const std::string& path : paths) Remove(path);
  *changes = std::move(changes_);
}

absl::Status MemoryTree::ApplyOne(const CreateOp& op, int64_t session, OpResult* result) {
  const std::string parent_path = ParentPath(op.path);
  const auto parent = entries_.find(parent_path);
  if (parent == entries_.end()) return NoNode(parent_path);
  std::string path = op.path;
  if (op.flags.sequential) path += fmt::format("{:010}", parent->second.creations);
  if (entries_.contains(path)) {
    return Error(absl::StatusCode::kAlreadyExists, "node {} is there already", path);
  }
  if (parent->second.node.stat.ephemeral_owner != 0) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "node {} is ephemeral and can't have children", parent_path);
  }
  Stat& stat = Writable(path)->node.stat;
  stat.czxid = stat.mzxid = stat.pzxid = zxid_;
  stat.ephemeral_owner = op.flags.ephemeral ? session : 0;
  entries_[path].node.data = op.data;
  CountChild(parent_path, 1);
  changes_.push_back({path, WatchEvent::kCreated});
  changes_.push_back({parent_path, WatchEvent::kChildren});
  result->path = path;
  return absl::OkStatus();
}

absl::Status MemoryTree::ApplyOne(const SetOp& op, int64_t, OpResult* result) {
  HOUTU_RETURN_IF_ERROR(Find(op.path, op.version).status());
  Entry* entry = Writable(op.path);
  entry->node.data = op.data;
  ++entry->node.stat.version;
  entry->node.stat.mzxid = zxid_;
  changes_.push_back({op.path, WatchEvent::kChanged});
  result->stat = entry->node.stat;
  return absl::OkStatus();
}

absl::Status MemoryTree::ApplyOne(const DeleteOp& op, int64_t, OpResult*) {
  HOUTU_ASSIGN_OR_RETURN(Entry* const entry, Find(op.path, op.version));
  if (op.path == "/") return absl::InvalidArgumentError("the root can't be deleted");
  if (entry->node.stat.num_children > 0) {
    return Error(absl::StatusCode::kFailedPrecondition, "node {} has children", op.path);
  }
  Remove(op.path);
  return absl::OkStatus();
}

absl::Status MemoryTree::ApplyOne(const CheckOp& op, int64_t, OpResult*) {
  return Find(op.path, op.version).status();
}

absl::StatusOr<MemoryTree::Entry*> MemoryTree::Find(const std::string& path, int32_t version) {
  const auto it = entries_.find(path);
  if (it == entries_.end()) return NoNode(path);
  const int32_t found = it->second.node.stat.version;
  if (version != kAnyVersion && version != found) {
    return Error(absl::StatusCode::kAborted, "node {} is not at the expected version {}", path,
                 version);
  }
  return &it->second;
}

void MemoryTree::Remove(const std::string& path) {
  Writable(path);
  entries_.erase(path);
  const std::string parent_path = ParentPath(path);
  CountChild(parent_path, -1);
  changes_.push_back({path, WatchEvent::kDeleted});
  changes_.push_back({parent_path, WatchEvent::kChildren});
}

// ZooKeeper numbers sequential nodes by the parent's creations, and counts creations and deletions
// in cversion.
void MemoryTree::CountChild(const std::string& parent_path, int change) {
  Entry* parent = Writable(parent_path);
  if (change > 0) ++parent->creations;
  ++parent->node.stat.cversion;
  parent->node.stat.num_children += change;
  parent->node.stat.pzxid = zxid_;
}

MemoryTree::Entry* MemoryTree::Writable(const std::string& path) {
  const auto it = entries_.find(path);
  if (!before_.contains(path)) {
    before_[path] = it == entries_.end() ? std::nullopt : std::optional<Entry>(it->second);
  }
  return &entries_[path];
}

void MemoryTree::Undo() {
  for (const auto& [path, before] : before_) {
    if (before.has_value()) {
      entries_[path] = *before;
    } else {
      entries_.erase(path);
    }
  }
  --zxid_;
  before_.clear();
  changes_.clear();
}

}  // namespace houtu::coordination
