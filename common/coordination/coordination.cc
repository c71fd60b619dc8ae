#include "common/coordination/coordination.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "common/base/status.h"

namespace houtu::coordination {
namespace {

const std::string& PathOf(const Op& op) {
  return std::visit([](const auto& o) -> const std::string& { return o.path; }, op);
}

size_t DataBytes(const Op& op) {
  if (const auto* create = std::get_if<CreateOp>(&op)) return create->data.size();
  if (const auto* set = std::get_if<SetOp>(&op)) return set->data.size();
  return 0;
}

bool IsBadPart(std::string_view part) { return part.empty() || part == "." || part == ".."; }

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

const char* Name(SessionState state) {
  switch (state) {
    case SessionState::kConnecting:
      return "connecting";
    case SessionState::kConnected:
      return "connected";
    case SessionState::kSuspended:
      return "suspended";
    case SessionState::kExpired:
      return "expired";
  }
  return "?";
}

absl::Status CheckPath(std::string_view path) {
  if (path == "/") return absl::OkStatus();
  bool good = !path.empty() && path.front() == '/';
  size_t begin = 1;
  while (good && begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    good = !IsBadPart(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const char c : path) good = good && !IsControl(c);
  if (good) return absl::OkStatus();
  return Error(absl::StatusCode::kInvalidArgument,
               "\"{}\" is not a path of the coordination store: it must read like \"/a/b\"", path);
}

Coordination::Coordination(Post post, size_t record_bytes_max)
    : post_(std::move(post)), record_bytes_max_(record_bytes_max) {
  HOUTU_CHECK(record_bytes_max <= kRecordBytesCeiling, "records must stay below ZooKeeper's limit");
}

void Coordination::Create(const std::string& path, std::string data, CreateFlags flags,
                          Callback<std::string> done) {
  if (absl::Status status = CheckRecord(path, data.size()); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoCreate(path, std::move(data), flags, std::move(done));
}

void Coordination::Get(const std::string& path, Callback<Node> done, Watch watch) {
  if (absl::Status status = CheckPath(path); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoGet(path, std::move(done), std::move(watch));
}

void Coordination::Set(const std::string& path, std::string data, int32_t version,
                       Callback<Stat> done) {
  if (absl::Status status = CheckRecord(path, data.size()); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoSet(path, std::move(data), version, std::move(done));
}

void Coordination::Delete(const std::string& path, int32_t version, Done done) {
  if (absl::Status status = CheckPath(path); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoDelete(path, version, std::move(done));
}

void Coordination::GetChildren(const std::string& path, Callback<Children> done, Watch watch) {
  if (absl::Status status = CheckPath(path); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoGetChildren(path, std::move(done), std::move(watch));
}

void Coordination::Exists(const std::string& path, Callback<std::optional<Stat>> done,
                          Watch watch) {
  if (absl::Status status = CheckPath(path); !status.ok()) {
    PostGuarded([done = std::move(done), status] { done(status); });
    return;
  }
  DoExists(path, std::move(done), std::move(watch));
}

void Coordination::Multi(std::vector<Op> ops, std::function<void(MultiResult)> done) {
  int failed_op = -1;
  absl::Status status = CheckOps(ops, &failed_op);
  if (ops.empty() || !status.ok()) {
    PostGuarded([done = std::move(done), status, failed_op] {
      done(MultiResult{.status = status, .failed_op = failed_op, .results = {}});
    });
    return;
  }
  DoMulti(std::move(ops), std::move(done));
}

Subscription Coordination::OnSessionState(std::function<void(SessionState)> listener) {
  const uint64_t id = next_listener_++;
  listeners_->emplace(id, std::move(listener));
  std::weak_ptr<Listeners> listeners = listeners_;
  return Subscription(std::shared_ptr<void>(nullptr, [listeners, id](void*) {
    if (auto alive = listeners.lock()) alive->erase(id);
  }));
}

void Coordination::PostState(SessionState state) {
  PostGuarded([this, state] { Tell(state); });
}

void Coordination::Tell(SessionState state) {
  if (state == state_ || state_ == SessionState::kExpired) return;
  state_ = state;
  // A listener may add or end listeners, or end this object.
  const std::shared_ptr<Listeners> listeners = listeners_;
  const std::weak_ptr<const int> alive = lifeline_.token();
  for (auto it = listeners->begin(); it != listeners->end();) {
    const uint64_t id = it->first;
    const auto listener = it->second;
    listener(state);
    if (alive.expired()) return;
    it = listeners->upper_bound(id);
  }
}

absl::Status Coordination::CheckRecord(const std::string& path, size_t bytes) const {
  HOUTU_RETURN_IF_ERROR(CheckPath(path));
  if (bytes <= record_bytes_max_) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted,
               "record {} is {} bytes, the limit is {} bytes; it was not sent", path, bytes,
               record_bytes_max_);
}

absl::Status Coordination::CheckOps(const std::vector<Op>& ops, int* failed_op) const {
  size_t bytes = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    *failed_op = static_cast<int>(i);
    HOUTU_RETURN_IF_ERROR(CheckRecord(PathOf(ops[i]), DataBytes(ops[i])));
    bytes += PathOf(ops[i]).size() + DataBytes(ops[i]);
  }
  *failed_op = -1;
  if (bytes <= record_bytes_max_) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted,
               "a multi of {} operations (first: {}) is {} bytes, the limit is {} bytes; it was "
               "not sent: split it",
               ops.size(), PathOf(ops.front()), bytes, record_bytes_max_);
}

}  // namespace houtu::coordination
