#include "common/coordination/memory.h"

#include <functional>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"

namespace houtu::coordination {
namespace {

// Whether such a watch is told of such a change.
bool Concerns(MemoryWatchKind kind, WatchEvent event) {
  switch (event) {
    case WatchEvent::kCreated:
      return kind == MemoryWatchKind::kExistence;
    case WatchEvent::kDeleted:
      return kind != MemoryWatchKind::kExistence;
    case WatchEvent::kChanged:
      return kind == MemoryWatchKind::kData;
    case WatchEvent::kChildren:
      return kind == MemoryWatchKind::kChildren;
  }
  return false;
}

}  // namespace

void MemoryStore::ExpireSession(int64_t session) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it != sessions_.end()) it->second->OnExpired();
  EndSession(session);
}

void MemoryStore::EndSession(int64_t session) {
  MemoryTree::Changes changes;
  tree_.RemoveEphemerals(session, &changes);
  Notify(changes);
}

void MemoryStore::Notify(const MemoryTree::Changes& changes) {
  for (const MemoryTree::Change& change : changes) {
    for (const auto& [id, session] : sessions_) session->OnChange(change);
  }
}

MemoryCoordination::MemoryCoordination(std::shared_ptr<MemoryStore> store, Post post,
                                       size_t record_bytes_max)
    : Coordination(std::move(post), record_bytes_max), store_(std::move(store)) {
  const std::lock_guard lock(store_->mutex_);
  session_ = store_->next_session_++;
  store_->sessions_.emplace(session_, this);
  PostState(SessionState::kConnected);
}

MemoryCoordination::~MemoryCoordination() {
  const std::lock_guard lock(store_->mutex_);
  store_->sessions_.erase(session_);
  if (connected_ && !expired_) store_->EndSession(session_);
}

void MemoryCoordination::Disconnect() {
  const std::lock_guard lock(store_->mutex_);
  Break(store_->tree_.zxid());
}

void MemoryCoordination::LoseAnswerOfWrite(int skipped) {
  const std::lock_guard lock(store_->mutex_);
  writes_until_lost_answer_ = skipped + 1;
}

void MemoryCoordination::Reconnect() {
  const std::lock_guard lock(store_->mutex_);
  if (connected_) return;
  connected_ = true;
  PostState(expired_ ? SessionState::kExpired : SessionState::kConnected);
  TellMissedChanges();
}

void MemoryCoordination::DoCreate(const std::string& path, std::string data, CreateFlags flags,
                                  Callback<std::string> done) {
  const std::lock_guard lock(store_->mutex_);
  MultiResult result = Write({CreateOp{path, std::move(data), flags}});
  PostGuarded([done = std::move(done), result = std::move(result)] {
    if (result.status.ok()) {
      done(result.results.front().path);
    } else {
      done(result.status);
    }
  });
}

void MemoryCoordination::DoSet(const std::string& path, std::string data, int32_t version,
                               Callback<Stat> done) {
  const std::lock_guard lock(store_->mutex_);
  MultiResult result = Write({SetOp{path, std::move(data), version}});
  PostGuarded([done = std::move(done), result = std::move(result)] {
    if (result.status.ok()) {
      done(result.results.front().stat);
    } else {
      done(result.status);
    }
  });
}

void MemoryCoordination::DoDelete(const std::string& path, int32_t version, Done done) {
  const std::lock_guard lock(store_->mutex_);
  const MultiResult result = Write({DeleteOp{path, version}});
  PostGuarded([done = std::move(done), status = result.status] { done(status); });
}

void MemoryCoordination::DoMulti(std::vector<Op> ops, std::function<void(MultiResult)> done) {
  const std::lock_guard lock(store_->mutex_);
  MultiResult result = Write(ops);
  PostGuarded([done = std::move(done), result = std::move(result)] { done(result); });
}

void MemoryCoordination::DoGet(const std::string& path, Callback<Node> done, Watch watch) {
  const std::lock_guard lock(store_->mutex_);
  const absl::Status connected = CheckConnected();
  absl::StatusOr<Node> node =
      connected.ok() ? store_->tree_.Get(path) : absl::StatusOr<Node>(connected);
  if (node.ok()) AddWatch(path, MemoryWatchKind::kData, std::move(watch));
  PostGuarded([done = std::move(done), node = std::move(node)] { done(node); });
}

void MemoryCoordination::DoGetChildren(const std::string& path, Callback<Children> done,
                                       Watch watch) {
  const std::lock_guard lock(store_->mutex_);
  const absl::Status connected = CheckConnected();
  absl::StatusOr<Children> children =
      connected.ok() ? store_->tree_.GetChildren(path) : absl::StatusOr<Children>(connected);
  if (children.ok()) AddWatch(path, MemoryWatchKind::kChildren, std::move(watch));
  PostGuarded([done = std::move(done), children = std::move(children)] { done(children); });
}

void MemoryCoordination::DoExists(const std::string& path, Callback<std::optional<Stat>> done,
                                  Watch watch) {
  const std::lock_guard lock(store_->mutex_);
  if (absl::Status status = CheckConnected(); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  const absl::StatusOr<Node> node = store_->tree_.Get(path);
  const auto kind = node.ok() ? MemoryWatchKind::kData : MemoryWatchKind::kExistence;
  AddWatch(path, kind, std::move(watch));
  std::optional<Stat> stat;
  if (node.ok()) stat = node->stat;
  PostGuarded([done = std::move(done), stat] { done(stat); });
}

MultiResult MemoryCoordination::Write(const std::vector<Op>& ops) {
  MultiResult result;
  result.status = CheckConnected();
  if (!result.status.ok()) return result;
  MemoryTree::Changes changes;
  const int64_t zxid_before = store_->tree_.zxid();
  result = store_->tree_.Apply(ops, session_, &changes);
  if (writes_until_lost_answer_ > 0 && --writes_until_lost_answer_ == 0) {
    Break(zxid_before);
    result = MultiResult{};
    result.status = absl::DeadlineExceededError(
        "the connection broke before the answer: the outcome is unknown");
  }
  store_->Notify(changes);
  return result;
}

void MemoryCoordination::Break(int64_t seen_zxid) {
  if (!connected_ || expired_) return;
  connected_ = false;
  seen_zxid_ = seen_zxid;
  PostState(SessionState::kSuspended);
}

absl::Status MemoryCoordination::CheckConnected() const {
  if (connected_ && expired_) return absl::UnavailableError("the coordination session expired");
  if (!connected_) return absl::UnavailableError("no connection to the coordination store");
  return absl::OkStatus();
}

void MemoryCoordination::AddWatch(const std::string& path, MemoryWatchKind kind, Watch watch) {
  if (watch) watches_.emplace(path, PathWatch{kind, std::move(watch)});
}

void MemoryCoordination::OnChange(const MemoryTree::Change& change) {
  if (connected_) CallWatches(change.path, change.event);
}

void MemoryCoordination::CallWatches(const std::string& path, WatchEvent event) {
  auto [it, end] = watches_.equal_range(path);
  while (it != end) {
    if (Concerns(it->second.kind, event)) {
      PostGuarded([watch = std::move(it->second.watch), event] { watch(event); });
      it = watches_.erase(it);
    } else {
      ++it;
    }
  }
}

void MemoryCoordination::TellMissedChanges() {
  std::vector<std::string> paths;
  for (auto it = watches_.begin(); it != watches_.end(); it = watches_.upper_bound(it->first)) {
    paths.push_back(it->first);
  }
  for (const std::string& path : paths) {
    const absl::StatusOr<Node> node = store_->tree_.Get(path);
    if (!node.ok()) {
      CallWatches(path, WatchEvent::kDeleted);
      continue;
    }
    CallWatches(path, WatchEvent::kCreated);
    if (node->stat.mzxid > seen_zxid_) CallWatches(path, WatchEvent::kChanged);
    if (node->stat.pzxid > seen_zxid_) CallWatches(path, WatchEvent::kChildren);
  }
}

void MemoryCoordination::OnExpired() {
  expired_ = true;
  watches_.clear();
  if (connected_) PostState(SessionState::kExpired);
}

}  // namespace houtu::coordination
