#include "common/coordination/zookeeper.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/status.h"
#include "common/coordination/zookeeper_convert.h"
#include "common/coordination/zookeeper_multi.h"
#include "common/log/log.h"

namespace houtu::coordination {
namespace {

// What to do with a call's code and answer (empty unless the code is ZOK).
template <typename Answer>
using Call = std::function<void(int, Answer)>;

// What the C client gives back to a completion.
template <typename Answer>
struct Pending {
  PendingCalls* calls;
  Call<Answer> call;
};

template <typename Answer>
void Complete(int code, Answer answer, const void* data) {
  const auto* const pending = static_cast<const Pending<Answer>*>(data);
  const std::shared_ptr<void> kept = pending->calls->Take(pending);
  pending->call(code, answer);
}

// Hands `call` to the C client by `send`; what it does not accept ends with that code.
template <typename Answer, typename Send>
void Begin(PendingCalls* calls, Call<Answer> call, Send send) {
  auto pending = std::make_shared<Pending<Answer>>(Pending<Answer>{calls, std::move(call)});
  calls->Keep(pending);
  const int code = send(pending.get());
  if (code == ZOK) return;
  calls->Take(pending.get());
  pending->call(code, Answer{});
}

using StringAnswer = const char*;
using StatAnswer = const ::Stat*;
struct VoidAnswer {};
struct DataAnswer {
  const char* value = nullptr;
  int length = 0;
  const ::Stat* stat = nullptr;
};
struct NamesAnswer {
  const ::String_vector* names = nullptr;
  const ::Stat* stat = nullptr;
};

void OnString(int code, const char* value, const void* data) {
  Complete<StringAnswer>(code, value, data);
}
void OnStat(int code, const ::Stat* stat, const void* data) {
  Complete<StatAnswer>(code, stat, data);
}
void OnVoid(int code, const void* data) { Complete<VoidAnswer>(code, {}, data); }
void OnData(int code, const char* value, int length, const ::Stat* stat, const void* data) {
  Complete<DataAnswer>(code, {value, length, stat}, data);
}
void OnNames(int code, const ::String_vector* names, const ::Stat* stat, const void* data) {
  Complete<NamesAnswer>(code, {names, stat}, data);
}

Node NodeOf(const DataAnswer& answer) {
  Node node{.data = "", .stat = FromClient(*answer.stat)};
  // The length is -1 for no data at all.
  if (answer.length > 0) node.data.assign(answer.value, static_cast<size_t>(answer.length));
  return node;
}

Children ChildrenOf(const NamesAnswer& answer) {
  Children children{.names = {}, .stat = FromClient(*answer.stat)};
  for (int i = 0; i < answer.names->count; ++i) children.names.push_back(answer.names->data[i]);
  std::sort(children.names.begin(), children.names.end());
  return children;
}

int Length(const std::string& data) { return static_cast<int>(data.size()); }

// Watches are known to the C client by number; 0: none.
void* ContextOf(uint64_t id) { return reinterpret_cast<void*>(static_cast<uintptr_t>(id)); }
uint64_t IdOf(void* context) { return reinterpret_cast<uintptr_t>(context); }

absl::Status CheckOptions(const ZookeeperCoordination::Options& options) {
  if (options.record_bytes_max > kRecordBytesCeiling) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "the limit of a record is {} bytes: it must be at most {}",
                 options.record_bytes_max, kRecordBytesCeiling);
  }
  if (options.session_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("the ZooKeeper session's timeout must be above 0");
  }
  return options.root.empty() ? absl::OkStatus() : CheckPath(options.root);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ZookeeperCoordination>> ZookeeperCoordination::Start(
    const Options& options, Post post) {
  HOUTU_RETURN_IF_ERROR(CheckOptions(options));
  zoo_set_debug_level(ZOO_LOG_LEVEL_INFO);
  auto coordination =
      std::unique_ptr<ZookeeperCoordination>(new ZookeeperCoordination(options, std::move(post)));
  coordination->handle_ =
      zookeeper_init2(options.servers.c_str(), &OnEvent,
                      static_cast<int>(absl::ToInt64Milliseconds(options.session_timeout)), nullptr,
                      coordination.get(), ZOO_NO_LOG_CLIENTENV, &LogClientLine);
  if (coordination->handle_ != nullptr) return coordination;
  const bool malformed = errno == EINVAL;
  return Error(malformed ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kUnavailable,
               "can't use the ZooKeeper servers \"{}\" (want host:port,host:port): {}",
               options.servers, Message(ErrnoError(errno, "start")));
}

ZookeeperCoordination::ZookeeperCoordination(const Options& options, Post post)
    : Coordination(std::move(post), options.record_bytes_max),
      root_(options.root == "/" ? "" : options.root) {}

ZookeeperCoordination::~ZookeeperCoordination() {
  if (handle_ == nullptr) return;
  // Ends the C client's threads; what they still posted finds this object gone.
  if (const int code = zookeeper_close(handle_); code != ZOK) {
    LogDebug("zookeeper session not closed in order", {{"error", zerror(code)}});
  }
}

int64_t ZookeeperCoordination::session_id() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

std::string ZookeeperCoordination::session_password() const {
  const std::lock_guard lock(mutex_);
  return password_;
}

// Without a connection nothing is sent: the C client would keep it, and whether it is sent some day
// nobody could say.
template <typename Answer, typename Send>
void ZookeeperCoordination::Submit(std::function<void(int, Answer)> call, Send send) {
  // The C client tells of a lost connection a moment before its state shows it.
  const bool connected = connected_ && zoo_state(handle_) == ZOO_CONNECTED_STATE;
  if (connected) {
    Begin<Answer>(&calls_, std::move(call), send);
  } else {
    call(ZINVALIDSTATE, Answer{});
  }
}

void ZookeeperCoordination::DoCreate(const std::string& path, std::string data, CreateFlags flags,
                                     Callback<std::string> done) {
  Call<StringAnswer> call = [this, path, done = std::move(done)](int code, StringAnswer created) {
    absl::StatusOr<std::string> answer = Relative(code == ZOK ? created : "");
    if (code != ZOK) answer = StatusOf(code, Access::kWrite, path);
    PostGuarded([done, answer = std::move(answer)] { done(answer); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_acreate(handle_, Absolute(path).c_str(), data.data(), Length(data),
                       &ZOO_OPEN_ACL_UNSAFE, ModeOf(flags), &OnString, context);
  });
}

void ZookeeperCoordination::DoGet(const std::string& path, Callback<Node> done, Watch watch) {
  const WatchId id = KeepWatch(std::move(watch));
  Call<DataAnswer> call = [this, path, id, done = std::move(done)](int code, DataAnswer data) {
    absl::StatusOr<Node> answer = code == ZOK ? NodeOf(data) : Node{};
    if (code != ZOK) {
      TakeWatch(id);
      answer = StatusOf(code, Access::kRead, path);
    }
    PostGuarded([done, answer = std::move(answer)] { done(answer); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_awget(handle_, Absolute(path).c_str(), id == 0 ? nullptr : &OnWatch, ContextOf(id),
                     &OnData, context);
  });
}

void ZookeeperCoordination::DoSet(const std::string& path, std::string data, int32_t version,
                                  Callback<Stat> done) {
  Call<StatAnswer> call = [this, path, done = std::move(done)](int code, StatAnswer stat) {
    absl::StatusOr<Stat> answer = code == ZOK ? FromClient(*stat) : Stat{};
    if (code != ZOK) answer = StatusOf(code, Access::kWrite, path);
    PostGuarded([done, answer = std::move(answer)] { done(answer); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_aset(handle_, Absolute(path).c_str(), data.data(), Length(data), version, &OnStat,
                    context);
  });
}

void ZookeeperCoordination::DoDelete(const std::string& path, int32_t version, Done done) {
  Call<VoidAnswer> call = [this, path, done = std::move(done)](int code, VoidAnswer) {
    PostGuarded([done, status = StatusOf(code, Access::kWrite, path)] { done(status); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_adelete(handle_, Absolute(path).c_str(), version, &OnVoid, context);
  });
}

void ZookeeperCoordination::DoGetChildren(const std::string& path, Callback<Children> done,
                                          Watch watch) {
  const WatchId id = KeepWatch(std::move(watch));
  Call<NamesAnswer> call = [this, path, id, done = std::move(done)](int code, NamesAnswer names) {
    absl::StatusOr<Children> answer = code == ZOK ? ChildrenOf(names) : Children{};
    if (code != ZOK) {
      TakeWatch(id);
      answer = StatusOf(code, Access::kRead, path);
    }
    PostGuarded([done, answer = std::move(answer)] { done(answer); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_awget_children2(handle_, Absolute(path).c_str(), id == 0 ? nullptr : &OnWatch,
                               ContextOf(id), &OnNames, context);
  });
}

void ZookeeperCoordination::DoExists(const std::string& path, Callback<std::optional<Stat>> done,
                                     Watch watch) {
  const WatchId id = KeepWatch(std::move(watch));
  Call<StatAnswer> call = [this, path, id, done = std::move(done)](int code, StatAnswer stat) {
    absl::StatusOr<std::optional<Stat>> answer = std::optional<Stat>();
    if (code == ZOK) answer = std::optional<Stat>(FromClient(*stat));
    if (code != ZOK && code != ZNONODE) {
      TakeWatch(id);
      answer = StatusOf(code, Access::kRead, path);
    }
    PostGuarded([done, answer = std::move(answer)] { done(answer); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_awexists(handle_, Absolute(path).c_str(), id == 0 ? nullptr : &OnWatch,
                        ContextOf(id), &OnStat, context);
  });
}

void ZookeeperCoordination::DoMulti(std::vector<Op> ops, std::function<void(MultiResult)> done) {
  auto multi = std::make_shared<ZookeeperMulti>(
      std::move(ops), [this](const std::string& path) { return Absolute(path); });
  Call<VoidAnswer> call = [this, multi, done = std::move(done)](int code, VoidAnswer) {
    MultiResult result =
        multi->Finish(code, [this](const std::string& path) { return Relative(path); });
    PostGuarded([done, result = std::move(result)] { done(result); });
  };
  Submit(std::move(call), [&](void* context) {
    return zoo_amulti(handle_, multi->count(), multi->ops(), multi->results(), &OnVoid, context);
  });
}

std::string ZookeeperCoordination::Absolute(const std::string& path) const {
  if (root_.empty()) return path;
  return path == "/" ? root_ : root_ + path;
}

std::string ZookeeperCoordination::Relative(const std::string& absolute) const {
  return absolute.starts_with(root_) ? absolute.substr(root_.size()) : absolute;
}

ZookeeperCoordination::WatchId ZookeeperCoordination::KeepWatch(Watch watch) {
  if (!watch) return 0;
  const std::lock_guard lock(mutex_);
  const WatchId id = next_watch_++;
  watches_.emplace(id, std::move(watch));
  return id;
}

Watch ZookeeperCoordination::TakeWatch(WatchId id) {
  const std::lock_guard lock(mutex_);
  auto node = watches_.extract(id);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void ZookeeperCoordination::OnWatch(_zhandle* handle, int type, int, const char*, void* context) {
  // Each watch is told of each lost and regained connection too, and stays set.
  if (type == ZOO_SESSION_EVENT) return;
  auto* const self =
      static_cast<ZookeeperCoordination*>(const_cast<void*>(zoo_get_context(handle)));
  Watch watch = self->TakeWatch(IdOf(context));
  if (!watch) return;
  self->PostGuarded([watch = std::move(watch), event = EventOf(type)] { watch(event); });
}

void ZookeeperCoordination::OnEvent(_zhandle* handle, int type, int state, const char*,
                                    void* context) {
  if (type != ZOO_SESSION_EVENT) return;
  auto* const self = static_cast<ZookeeperCoordination*>(context);
  self->connected_ = state == ZOO_CONNECTED_STATE;
  if (state == ZOO_CONNECTED_STATE) {
    self->OnConnected(handle);
  } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
    self->PostState(SessionState::kExpired);
  } else if (self->was_connected_) {
    self->PostState(SessionState::kSuspended);
  }
}

void ZookeeperCoordination::OnConnected(_zhandle* handle) {
  const clientid_t* const id = zoo_client_id(handle);
  {
    const std::lock_guard lock(mutex_);
    session_ = id->client_id;
    password_.assign(id->passwd, sizeof(id->passwd));
  }
  was_connected_ = true;
  CreateRoot(handle);
  PostState(SessionState::kConnected);
}

// The servers keep a session's order: whatever the owner sends once it is told of the connection
// finds the root made, without a wait for these answers.
void ZookeeperCoordination::CreateRoot(_zhandle* handle) {
  if (root_.empty() || root_made_) return;
  for (size_t end = 0; end < root_.size();) {
    end = std::min(root_.find('/', end + 1), root_.size());
    const std::string path = root_.substr(0, end);
    Call<StringAnswer> call = [this, path](int code, StringAnswer) {
      const bool broke_off = code == ZCONNECTIONLOSS || code == ZCLOSING;
      if (code == ZOK || code == ZNODEEXISTS) {
        if (path == root_) root_made_ = true;
      } else if (!broke_off) {
        LogWarning("zookeeper root not created", {{"path", path}, {"error", zerror(code)}});
      }
    };
    Begin<StringAnswer>(&calls_, std::move(call), [&](void* context) {
      return zoo_acreate(handle, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT,
                         &OnString, context);
    });
  }
}

}  // namespace houtu::coordination
