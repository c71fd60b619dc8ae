#include "client/net/masters.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "client/text/safe_text.h"
#include "client/text/units.h"
#include "client/view/job_view.h"
#include "common/base/check.h"
#include "common/base/status.h"
#include "common/rpc/call.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/client_service.grpc.pb.h"

namespace houtu::client {
namespace {

using Service = v1::ClientService;

/// Pause when no master of the list has answered.
constexpr absl::Duration kRoundPause = absl::Milliseconds(200);
/// A master that is silent for this share of the deadline is given up for the next.
constexpr int kAttemptsPerDeadline = 3;

/// Whether another master, or the same a moment later, may do better.
bool IsWorthAnother(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kCancelled;  // the server shuts down
}

absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

struct Masters::Connection {
  std::string address;
  std::unique_ptr<Service::Stub> stub;
  /// What it said when it failed last.
  std::string said = "not tried";
};

Masters::Masters(Options options, ChannelPool* channels, Interrupt* interrupt)
    : options_(std::move(options)), interrupt_(interrupt) {
  HOUTU_CHECK(!options_.addresses.empty(), "the configuration names a master");
  for (const std::string& address : options_.addresses) {
    connections_.push_back(std::make_unique<Connection>(
        Connection{.address = address, .stub = Service::NewStub(channels->Get(address))}));
  }
}

Masters::~Masters() = default;

template <typename Response, typename Request, typename Method>
absl::StatusOr<Response> Masters::Call(const Request& request, Method method) {
  const absl::Time start = absl::Now();
  const absl::Time deadline = start + options_.connect_timeout;
  failures_in_round_ = 0;
  while (absl::Now() < deadline) {
    grpc::ClientContext context;
    SetDeadline(&context,
                std::min(deadline - absl::Now(), options_.connect_timeout / kAttemptsPerDeadline));
    Response response;
    absl::Status status;
    {
      const Interrupt::Watch watch(interrupt_, absl::InfiniteDuration(),
                                   [&context] { context.TryCancel(); });
      Service::Stub* stub = connections_[current_]->stub.get();
      status = FromGrpc((stub->*method)(&context, request, &response));
    }
    if (status.ok()) {
      return response;
    }
    if (!IsWorthAnother(status)) {
      return status;
    }
    HOUTU_RETURN_IF_ERROR(TurnToNext(status));
  }
  return NobodyAnswered(absl::Now() - start);
}

absl::Status Masters::TurnToNext(const absl::Status& status) {
  if (interrupt_->fired()) {
    return Interrupted();
  }
  connections_[current_]->said = SafeLine(Message(status));
  current_ = (current_ + 1) % connections_.size();
  if (++failures_in_round_ % connections_.size() == 0 && !interrupt_->Sleep(kRoundPause)) {
    return Interrupted();
  }
  return absl::OkStatus();
}

absl::Status Masters::NobodyAnswered(absl::Duration tried) const {
  std::string text = fmt::format("no master answered within {}", HumanDuration(tried));
  for (const auto& connection : connections_) {
    text += fmt::format("; {}: {}", connection->address, connection->said);
  }
  return absl::UnavailableError(text);
}

absl::StatusOr<WatchEnd> Masters::WatchJob(
    const std::string& job, absl::Time deadline,
    const std::function<void(const v1::JobStatus&)>& on_status) {
  v1::JobStatus last;
  absl::Time heard = absl::Now();
  const auto note = [&](const v1::JobStatus& status) {
    heard = absl::Now();
    on_status(status);
  };
  for (;;) {
    // By id once it is known: a name may mean a newer job the next time.
    const absl::Status status =
        WatchOnce(last.id().empty() ? job : last.id(), deadline, note, &last);
    if (IsEnded(last.state())) {
      return WatchEnd::kJobEnded;
    }
    if (interrupt_->fired()) {
      return Interrupted();
    }
    if (absl::Now() >= deadline) {
      return WatchEnd::kTimeout;
    }
    // A job that was seen is there: a standby may only not have read of it yet.
    const bool lags = !last.id().empty() && status.code() == absl::StatusCode::kNotFound;
    if (!status.ok() && !IsWorthAnother(status) && !lags) {
      return status;
    }
    const absl::Duration patience =
        last.id().empty() ? options_.connect_timeout : options_.watch_patience;
    HOUTU_RETURN_IF_ERROR(
        TurnToNext(status.ok() ? absl::UnavailableError("closed early") : status));
    if (absl::Now() - heard >= patience) {
      return NobodyAnswered(absl::Now() - heard);
    }
  }
}

absl::Status Masters::WatchOnce(const std::string& job, absl::Time deadline,
                                const std::function<void(const v1::JobStatus&)>& on_status,
                                v1::JobStatus* last) {
  grpc::ClientContext context;
  if (deadline != absl::InfiniteFuture()) {
    context.set_deadline(absl::ToChronoTime(deadline));
  }
  // Only the first message may be late: the status comes at once, changes when there are any, and a
  // master that dies silently is noticed by keepalive.
  Interrupt::Watch watch(interrupt_, options_.connect_timeout / kAttemptsPerDeadline,
                         [&context] { context.TryCancel(); });
  v1::GetJobRequest request;
  request.set_job(job);
  const auto reader = connections_[current_]->stub->WatchJob(&context, request);
  v1::JobStatus status;
  while (reader->Read(&status)) {
    watch.Touch(absl::InfiniteDuration());
    failures_in_round_ = 0;
    *last = status;
    on_status(status);
  }
  const absl::Status end = FromGrpc(reader->Finish());
  return watch.idled() ? absl::UnavailableError("it accepts calls but does not answer") : end;
}

absl::StatusOr<v1::SubmitJobResponse> Masters::SubmitJob(const v1::SubmitJobRequest& request) {
  return Call<v1::SubmitJobResponse>(request, &Service::Stub::SubmitJob);
}
absl::StatusOr<v1::ListJobsResponse> Masters::ListJobs(const v1::ListJobsRequest& request) {
  return Call<v1::ListJobsResponse>(request, &Service::Stub::ListJobs);
}
absl::StatusOr<v1::GetJobResponse> Masters::GetJob(const v1::GetJobRequest& request) {
  return Call<v1::GetJobResponse>(request, &Service::Stub::GetJob);
}
absl::StatusOr<v1::ListTasksResponse> Masters::ListTasks(const v1::ListTasksRequest& request) {
  return Call<v1::ListTasksResponse>(request, &Service::Stub::ListTasks);
}
absl::StatusOr<v1::ListOutputsResponse> Masters::ListOutputs(
    const v1::ListOutputsRequest& request) {
  return Call<v1::ListOutputsResponse>(request, &Service::Stub::ListOutputs);
}
absl::StatusOr<v1::CancelJobResponse> Masters::CancelJob(const v1::CancelJobRequest& request) {
  return Call<v1::CancelJobResponse>(request, &Service::Stub::CancelJob);
}
absl::StatusOr<v1::ListEventsResponse> Masters::ListEvents(const v1::ListEventsRequest& request) {
  return Call<v1::ListEventsResponse>(request, &Service::Stub::ListEvents);
}
absl::StatusOr<v1::ListNodesResponse> Masters::ListNodes(const v1::ListNodesRequest& request) {
  return Call<v1::ListNodesResponse>(request, &Service::Stub::ListNodes);
}
absl::StatusOr<v1::ListDatacentersResponse> Masters::ListDatacenters() {
  return Call<v1::ListDatacentersResponse>(v1::ListDatacentersRequest(),
                                           &Service::Stub::ListDatacenters);
}

}  // namespace houtu::client
