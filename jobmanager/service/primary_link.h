// PrimaryLink: reports to the job's primary, newest first: while one call is under way the next
// report waits, and a newer one takes its place.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/coordination/coordination.h"
#include "common/coordination/lifeline.h"
#include "common/coordination/watch.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "common/rpc/reconnect.h"
#include "houtu/v1/peer_service.pb.h"
#include "jobmanager/core/job_context.h"

namespace houtu {
class ChannelPool;
}

namespace houtu::jobmanager {

/// Owner: the shell of a manager that is not the primary. Thread: the loop's.
class PrimaryLink {
 public:
  struct Options {
    EventLoop* loop = nullptr;
    coordination::Coordination* coordination = nullptr;
    ChannelPool* channels = nullptr;
    RecordPaths paths;
    const JobContext* context = nullptr;
    std::string token;
  };
  explicit PrimaryLink(Options options);

  void Report(v1::SubJobReport report);

 private:
  void SendNext();
  void OnAnswer(v1::SubJobReport report, const absl::Status& status);

  const Options options_;
  std::string address_;  // of the primary; empty: not known
  std::optional<v1::SubJobReport> waiting_;
  bool under_way_ = false;
  Reconnect reconnect_;
  std::unique_ptr<coordination::DataWatch> primary_;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::jobmanager
