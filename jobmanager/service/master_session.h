// MasterSession: the manager's session with its datacenter's leading master, got back when it
// breaks or another master leads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/coordination/coordination.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "houtu/v1/job_master_service.pb.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/job_context.h"

namespace houtu {
class ChannelPool;
template <typename Out, typename In>
class ClientStream;
template <typename Out, typename In>
class LeaderSession;
template <typename In>
struct StreamEvents;
}  // namespace houtu

namespace houtu::jobmanager {

/// Owner: the shell. Thread: the loop's.
class MasterSession {
 public:
  struct Callbacks {
    std::function<void(Event)> tell;
    /// A manager with a higher term took over.
    std::function<void(absl::Status)> on_stale;
  };
  struct Options {
    EventLoop* loop = nullptr;
    coordination::Coordination* coordination = nullptr;
    ChannelPool* channels = nullptr;
    RecordPaths paths;
    const JobContext* context = nullptr;
    std::string token;
  };
  MasterSession(Options options, Callbacks callbacks);
  ~MasterSession();

  /// Dropped unless the master has said welcome.
  void Send(v1::JobManagerMessage message);

 private:
  using Stream = ClientStream<v1::JobManagerMessage, v1::JobMasterMessage>;
  using Session = LeaderSession<v1::JobManagerMessage, v1::JobMasterMessage>;

  std::shared_ptr<Stream> Open(const std::string& address,
                               StreamEvents<v1::JobMasterMessage> events) const;
  void SayHello();
  void OnMessage(v1::JobMasterMessage message);
  bool OnEnd(const absl::Status& status);

  const Options options_;
  const Callbacks callbacks_;
  bool welcomed_ = false;
  std::unique_ptr<Session> leader_;
};

}  // namespace houtu::jobmanager
