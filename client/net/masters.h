// Masters: the client's calls to whichever master answers. Every call is idempotent (a submission
// by its job id), so a lost answer is asked for again, of the same or of the next master, until the
// deadline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/net/interrupt.h"
#include "common/rpc/tls_material.h"
#include "houtu/v1/client_service.pb.h"

namespace houtu {
class ChannelPool;
}

namespace houtu::client {

/// How a watched job's watching ended.
enum class WatchEnd { kJobEnded, kTimeout };

/// Error codes of every call: those of the service, and
///   UNAVAILABLE  no master gave an answer until the deadline; tells what each said
///   CANCELLED    interrupted
/// Owner: the command. One thread.
class Masters {
 public:
  struct Options {
    /// host:port each; not empty.
    std::vector<std::string> addresses;
    /// For how long masters are tried.
    absl::Duration connect_timeout = absl::Seconds(10);
    /// For how long a watched job's masters may all be silent: longer than an election takes.
    absl::Duration watch_patience = absl::Seconds(60);
  };

  /// `channels` and `interrupt` outlive it.
  Masters(Options options, ChannelPool* channels, Interrupt* interrupt);
  ~Masters();

  absl::StatusOr<v1::SubmitJobResponse> SubmitJob(const v1::SubmitJobRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::ListTasksResponse> ListTasks(const v1::ListTasksRequest& request);
  absl::StatusOr<v1::ListOutputsResponse> ListOutputs(const v1::ListOutputsRequest& request);
  absl::StatusOr<v1::CancelJobResponse> CancelJob(const v1::CancelJobRequest& request);
  absl::StatusOr<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);
  absl::StatusOr<v1::ListNodesResponse> ListNodes(const v1::ListNodesRequest& request);
  absl::StatusOr<v1::ListDatacentersResponse> ListDatacenters();

  /// Calls `on_status` with the job's status at once and at each change, until the job has ended or
  /// `deadline` has passed. A master that goes away is replaced by another.
  absl::StatusOr<WatchEnd> WatchJob(const std::string& job, absl::Time deadline,
                                    const std::function<void(const v1::JobStatus&)>& on_status);

 private:
  struct Connection;

  template <typename Response, typename Request, typename Method>
  absl::StatusOr<Response> Call(const Request& request, Method method);
  /// One WatchJob stream to the current master; `last` keeps the newest status.
  absl::Status WatchOnce(const std::string& job, absl::Time deadline,
                         const std::function<void(const v1::JobStatus&)>& on_status,
                         v1::JobStatus* last);
  /// The master that failed did so with `status`: turn to the next, with a pause after each round.
  /// CANCELLED: interrupted meanwhile.
  absl::Status TurnToNext(const absl::Status& status);
  /// UNAVAILABLE with what each master said last.
  absl::Status NobodyAnswered(absl::Duration tried) const;

  const Options options_;
  Interrupt* const interrupt_;
  std::vector<std::unique_ptr<Connection>> connections_;
  size_t current_ = 0;
  size_t failures_in_round_ = 0;
};

}  // namespace houtu::client
