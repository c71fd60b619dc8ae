// JobWatch: the stream of a job's status to one client.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <optional>

#include "common/coordination/watch.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "houtu/v1/record.pb.h"
#include "houtu/v1/status.pb.h"
#include "master/service/shared_view.h"

namespace houtu::master {

/// Sends the status at once and after each change (the newest, if the client reads slowly), and
/// ends after the job's end was sent. It keeps itself alive until the stream is done, which may be
/// while a worker still looks for the job: whoever uses it holds it.
class JobWatch final : public grpc::ServerWriteReactor<v1::JobStatus>,
                       public std::enable_shared_from_this<JobWatch> {
 public:
  static std::shared_ptr<JobWatch> Create(EventLoop* loop, const SharedView* view);

  /// From a worker: the job was found.
  void Watch(std::shared_ptr<coordination::Coordination> store, const RecordPaths& paths,
             v1::JobRecord record);
  /// From any thread: ends the stream with an error.
  void Refuse(const absl::Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  /// The watches: live on the loop, together with their session.
  struct Watches {
    std::shared_ptr<coordination::Coordination> store;
    v1::JobRecord record;
    std::optional<v1::JobStateRecord> state;
    std::optional<v1::JobStatus> status;
    bool state_told = false;
    bool status_told = false;
    bool cancel_requested = false;
    std::unique_ptr<coordination::DataWatch> state_watch;
    std::unique_ptr<coordination::DataWatch> status_watch;
    std::unique_ptr<coordination::DataWatch> cancel_watch;
    coordination::Subscription session;
  };

  JobWatch(EventLoop* loop, const SharedView* view) : loop_(loop), view_(view) {}

  void StartWatches(std::shared_ptr<coordination::Coordination> store, const RecordPaths& paths,
                    v1::JobRecord record);
  void OnChange();
  void Offer(v1::JobStatus status, bool last);
  void End(const absl::Status& status);

  EventLoop* const loop_;
  const SharedView* const view_;
  std::unique_ptr<Watches> watches_;  // loop only
  std::shared_ptr<JobWatch> self_;    // until OnDone
  std::mutex mutex_;
  std::optional<v1::JobStatus> next_;
  v1::JobStatus writing_;
  bool write_in_flight_ = false;
  bool last_offered_ = false;
  bool ended_ = false;
};

}  // namespace houtu::master
