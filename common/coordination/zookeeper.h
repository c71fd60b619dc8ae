// Coordination by a ZooKeeper ensemble, through its multi-threaded C client.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordination/coordination.h"
#include "common/coordination/pending_calls.h"

// The C client's handle; its header defines names like ::Stat and stays out of ours.
struct _zhandle;

namespace houtu::coordination {

/// One ZooKeeper session.
///
/// The C client keeps the session over reconnects and to other servers, sets its watches again and
/// calls back on threads of its own, which here only post. Once the session expired this object is
/// of no more use: destroy it (from the owner's thread, as always, so never inside a callback of
/// the C client, which would deadlock) and start another.
///
/// Its end closes the session, so that its ephemerals go at once; that takes at most 3 s (the C
/// client's own limit for sending the request), a few milliseconds when connected.
///
/// Nodes are created open to everyone (world:anyone): who may reach the ensemble's ports may do
/// everything. A deployment must keep these ports to the daemons' network.
class ZookeeperCoordination final : public Coordination {
 public:
  struct Options {
    /// "host:port,host:port,…".
    std::string servers = {};
    /// Every path lies below this node, which is created on connecting; empty: the store's root.
    std::string root = {};
    /// How long the session outlives its connection. The servers may bound it (2 to 20 ticks).
    absl::Duration session_timeout = absl::Seconds(10);
    /// Bytes; at most kRecordBytesCeiling.
    size_t record_bytes_max = kRecordBytesMax;
  };

  /// Begins to connect; does not wait (but resolves host names). May be called from another
  /// thread, before the owner's uses the object. INVALID_ARGUMENT: `options`;
  /// UNAVAILABLE: no host name of `servers` is known.
  static absl::StatusOr<std::unique_ptr<ZookeeperCoordination>> Start(const Options& options,
                                                                      Post post);
  ~ZookeeperCoordination() override;

  int64_t session_id() const override;

  /// With session_id() the right to take the session over from another process: how tests end a
  /// session as if its time had passed. 16 raw bytes.
  std::string session_password() const;

 private:
  using WatchId = uint64_t;

  ZookeeperCoordination(const Options& options, Post post);

  void DoCreate(const std::string& path, std::string data, CreateFlags flags,
                Callback<std::string> done) override;
  void DoGet(const std::string& path, Callback<Node> done, Watch watch) override;
  void DoSet(const std::string& path, std::string data, int32_t version,
             Callback<Stat> done) override;
  void DoDelete(const std::string& path, int32_t version, Done done) override;
  void DoGetChildren(const std::string& path, Callback<Children> done, Watch watch) override;
  void DoExists(const std::string& path, Callback<std::optional<Stat>> done, Watch watch) override;
  void DoMulti(std::vector<Op> ops, std::function<void(MultiResult)> done) override;

  template <typename Answer, typename Send>
  void Submit(std::function<void(int, Answer)> call, Send send);
  std::string Absolute(const std::string& path) const;
  std::string Relative(const std::string& absolute) const;
  WatchId KeepWatch(Watch watch);
  Watch TakeWatch(WatchId id);

  // On the C client's threads.
  static void OnEvent(_zhandle* handle, int type, int state, const char* path, void* context);
  static void OnWatch(_zhandle* handle, int type, int state, const char* path, void* context);
  void OnConnected(_zhandle* handle);
  void CreateRoot(_zhandle* handle);

  const std::string root_;
  PendingCalls calls_;
  _zhandle* handle_ = nullptr;
  std::atomic<bool> root_made_ = false;
  std::atomic<bool> connected_ = false;      // as last told by the C client
  std::atomic<bool> was_connected_ = false;  // ever

  mutable std::mutex mutex_;
  int64_t session_ = 0;
  std::string password_;
  // The C client drops the contexts of open watches when it ends: they are kept here.
  std::map<WatchId, Watch> watches_;
  WatchId next_watch_ = 1;
};

}  // namespace houtu::coordination
