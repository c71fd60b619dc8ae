// What a client, an agent and a job manager say to a master, call by call, for tests.
#pragma once

#include <grpcpp/channel.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/check.h"
#include "common/rpc/call.h"
#include "common/rpc/status.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"
#include "houtu/v1/client_service.grpc.pb.h"
#include "houtu/v1/job_master_service.grpc.pb.h"

namespace houtu::master {

/// How long a test waits for what must come.
inline constexpr absl::Duration kTestPatience = absl::Seconds(20);

/// A job of one stage that is valid.
v1::Job SmallJob(const std::string& name = "small");

/// The client's calls, one by one. Thread-safe.
class TestClient {
 public:
  explicit TestClient(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::ClientService::NewStub(channel)) {}

  absl::StatusOr<v1::SubmitJobResponse> Submit(const std::string& id, const v1::Job& job) const;
  absl::StatusOr<v1::GetJobResponse> Get(const std::string& job) const;
  absl::StatusOr<v1::CancelJobResponse> Cancel(const std::string& job) const;
  absl::StatusOr<v1::ListJobsResponse> List(bool all = true, int page_size = 0,
                                            const std::string& page_token = "") const;
  v1::ClientService::Stub& stub() const { return *stub_; }

 private:
  std::unique_ptr<v1::ClientService::Stub> stub_;
};

/// One unary call of a synchronous stub, with a deadline.
template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> Call(Stub* stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
  grpc::ClientContext context;
  SetDeadline(&context, kTestPatience);
  Response response;
  const grpc::Status status = (stub->*method)(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return response;
}

/// A bidirectional stream that keeps all that it was sent. Sends from the test's thread.
template <typename Out, typename In>
class TestStream {
 public:
  /// `open(context)` calls the stub's method.
  template <typename Open>
  explicit TestStream(Open open) : stream_(open(&context_)), reader_([this] { Read(); }) {}
  ~TestStream() {
    Cancel();
    reader_.join();
  }

  void Send(const Out& message) { stream_->Write(message); }
  void Cancel() { context_.TryCancel(); }

  /// The first message from `from` on for which `wanted` holds; its place is `*place`.
  In Await(const std::function<bool(const In&)>& wanted, size_t from = 0, size_t* place = nullptr) {
    std::unique_lock lock(mutex_);
    size_t next = from;
    const bool came = changed_.wait_for(lock, absl::ToChronoNanoseconds(kTestPatience), [&] {
      while (next < messages_.size() && !wanted(messages_[next])) ++next;
      return next < messages_.size() || end_.has_value();
    });
    HOUTU_CHECK(came && next < messages_.size(),
                "the message that the test waits for comes; the stream: " +
                    (end_.has_value() ? end_->ToString() : "open"));
    if (place != nullptr) *place = next;
    return messages_[next];
  }
  /// How the stream ended.
  absl::Status AwaitEnd() {
    std::unique_lock lock(mutex_);
    const bool ended = changed_.wait_for(lock, absl::ToChronoNanoseconds(kTestPatience),
                                         [&] { return end_.has_value(); });
    HOUTU_CHECK(ended, "the stream ends");
    return *end_;
  }
  std::vector<In> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  void Read() {
    In message;
    while (stream_->Read(&message)) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(message);
      changed_.notify_all();
    }
    const absl::Status end = FromGrpc(stream_->Finish());
    const std::lock_guard lock(mutex_);
    end_ = end;
    changed_.notify_all();
  }

  grpc::ClientContext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<In> messages_;
  std::optional<absl::Status> end_;
  std::unique_ptr<grpc::ClientReaderWriter<Out, In>> stream_;
  std::thread reader_;  // last
};

/// An agent's session, driven by hand.
class TestAgent {
 public:
  using Stream = TestStream<v1::AgentMessage, v1::MasterCommand>;

  TestAgent(const std::shared_ptr<grpc::Channel>& channel, std::string datacenter,
            std::string node);

  /// The first message, with the leases that it holds.
  void Register(const std::vector<v1::LeaseReport>& leases = {});
  void Report(const v1::Lease& lease, v1::LeaseReport::State state);
  /// Sends a heartbeat and waits for its echo: all that was sent before is handled by then.
  void Beat();
  /// The next StartLease that was not returned before.
  v1::StartLease NextStart();
  /// The lease ids of the commands of that kind so far.
  std::vector<std::string> Starts();
  std::vector<std::string> Ends();
  Stream& stream() { return stream_; }

 private:
  const std::string datacenter_;
  const std::string node_;
  std::unique_ptr<v1::AgentMasterService::Stub> stub_;
  Stream stream_;
  int64_t beats_ = 0;
  size_t next_ = 0;
};

/// A job manager's session, driven by hand.
class TestManager {
 public:
  using Stream = TestStream<v1::JobManagerMessage, v1::JobMasterMessage>;

  explicit TestManager(const std::shared_ptr<grpc::Channel>& channel);

  void Hello(const std::string& job, const std::string& datacenter, const std::string& token,
             int64_t term = 1);
  void Want(int containers, int64_t cpu_millis = 100, int64_t memory_bytes = 64 << 20);
  v1::JobMasterWelcome AwaitWelcome();
  /// The next LeaseGranted that was not returned before.
  v1::LeaseGranted NextGrant();
  Stream& stream() { return stream_; }

 private:
  std::unique_ptr<v1::JobMasterService::Stub> stub_;
  Stream stream_;
  size_t next_ = 0;
};

}  // namespace houtu::master
