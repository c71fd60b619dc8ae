// A master and an agent as clients see them, over real mTLS on loopback: each call is answered by a
// function that the test gives.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "houtu/v1/client_service.grpc.pb.h"
#include "houtu/v1/partition_service.grpc.pb.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu::client {

/// Only clients may call. Calls without a function are UNIMPLEMENTED. Set the functions before
/// Start.
class FakeMaster final : public v1::ClientService::Service {
 public:
  std::function<absl::Status(const v1::SubmitJobRequest&, v1::SubmitJobResponse*)> on_submit;
  std::function<absl::Status(const v1::GetJobRequest&, v1::GetJobResponse*)> on_get;
  std::function<absl::Status(const v1::ListTasksRequest&, v1::ListTasksResponse*)> on_tasks;
  std::function<absl::Status(const v1::ListOutputsRequest&, v1::ListOutputsResponse*)> on_outputs;
  std::function<absl::Status(const v1::ListNodesRequest&, v1::ListNodesResponse*)> on_nodes;
  /// Returns the statuses to send; the stream ends with `watch_end`.
  std::function<std::vector<v1::JobStatus>(const v1::GetJobRequest&)> on_watch;
  absl::Status watch_end;

  /// Listens on a free port of 127.0.0.1.
  void Start(const TlsMaterial& tls);
  void Stop() { server_.reset(); }
  std::string address() const;

  grpc::Status SubmitJob(grpc::ServerContext* context, const v1::SubmitJobRequest* request,
                         v1::SubmitJobResponse* response) override;
  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                      v1::GetJobResponse* response) override;
  grpc::Status ListTasks(grpc::ServerContext* context, const v1::ListTasksRequest* request,
                         v1::ListTasksResponse* response) override;
  grpc::Status ListOutputs(grpc::ServerContext* context, const v1::ListOutputsRequest* request,
                           v1::ListOutputsResponse* response) override;
  grpc::Status ListNodes(grpc::ServerContext* context, const v1::ListNodesRequest* request,
                         v1::ListNodesResponse* response) override;
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                        grpc::ServerWriter<v1::JobStatus>* writer) override;

 private:
  template <typename Request, typename Response, typename Function>
  grpc::Status Answer(grpc::ServerContext* context, const Request& request, Response* response,
                      const Function& function);

  std::unique_ptr<RpcServer> server_;
};

class FakeAgent final : public v1::PartitionService::Service {
 public:
  struct LogAnswer {
    std::vector<v1::LogChunk> chunks;
    absl::Status end;
  };
  struct FilesAnswer {
    std::vector<v1::FileChunk> chunks;
    absl::Status end;
  };
  std::function<LogAnswer(const v1::ReadLogRequest&)> on_log;
  std::function<FilesAnswer(const v1::FetchPartitionsRequest&)> on_fetch;

  void Start(const TlsMaterial& tls);
  std::string address() const;

  grpc::Status ReadLog(grpc::ServerContext* context, const v1::ReadLogRequest* request,
                       grpc::ServerWriter<v1::LogChunk>* writer) override;
  grpc::Status FetchPartitions(grpc::ServerContext* context,
                               const v1::FetchPartitionsRequest* request,
                               grpc::ServerWriter<v1::FileChunk>* writer) override;

 private:
  std::unique_ptr<RpcServer> server_;
};

}  // namespace houtu::client
