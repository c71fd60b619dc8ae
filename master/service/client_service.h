// What clients call. Requests are served by workers that block on ZooKeeper; nothing here decides.
#pragma once

#include <functional>
#include <string>

#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/identity.h"
#include "houtu/v1/client_service.grpc.pb.h"
#include "houtu/v1/config.pb.h"
#include "houtu/v1/master_service.pb.h"
#include "master/service/job_index.h"
#include "master/service/master_metrics.h"
#include "master/service/master_shell.h"
#include "master/service/shared_view.h"

namespace houtu::master {

/// Owner: main. Roles client (its own account's jobs) and admin (all).
class ClientServiceShell final : public v1::ClientService::CallbackService {
 public:
  struct Parts {
    EventLoop* loop = nullptr;
    WorkerPool* workers = nullptr;
    SharedView* view = nullptr;
    MasterShell* shell = nullptr;
    ChannelPool* channels = nullptr;
    MasterMetrics* metrics = nullptr;
    v1::MasterConfig config;
  };
  explicit ClientServiceShell(Parts parts) : parts_(std::move(parts)), index_(paths_) {}

  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerWriteReactor<v1::JobStatus>* WatchJob(grpc::CallbackServerContext* context,
                                                    const v1::GetJobRequest* request) override;
  grpc::ServerUnaryReactor* ListTasks(grpc::CallbackServerContext* context,
                                      const v1::ListTasksRequest* request,
                                      v1::ListTasksResponse* response) override;
  grpc::ServerUnaryReactor* ListOutputs(grpc::CallbackServerContext* context,
                                        const v1::ListOutputsRequest* request,
                                        v1::ListOutputsResponse* response) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobResponse* response) override;
  grpc::ServerUnaryReactor* ListEvents(grpc::CallbackServerContext* context,
                                       const v1::ListEventsRequest* request,
                                       v1::ListEventsResponse* response) override;
  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context,
                                      const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override;
  grpc::ServerUnaryReactor* ListDatacenters(grpc::CallbackServerContext* context,
                                            const v1::ListDatacentersRequest* request,
                                            v1::ListDatacentersResponse* response) override;

 private:
  using Store = coordination::BlockingCoordination;
  /// Runs `serve(identity, store)` on a worker and ends the call with its status.
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context,
                                  std::function<absl::Status(const Identity&, const Store&)> serve);

  absl::Status Submit(const Identity& caller, const Store& store,
                      const v1::SubmitJobRequest& request, v1::SubmitJobResponse* response);
  absl::Status Cancel(const Identity& caller, const Store& store,
                      const v1::CancelJobRequest& request, v1::CancelJobResponse* response);
  absl::StatusOr<v1::JobRecord> FindJob(const Identity& caller, const Store& store,
                                        const std::string& text);
  absl::StatusOr<v1::JobStatus> StatusOf(const Store& store, const v1::JobRecord& record);
  absl::StatusOr<std::vector<std::string>> ResolveDatacenters(const v1::Job& job) const;
  /// Tells the masters of the job's datacenters to look at it; a lost call costs nothing.
  void Nudge(const v1::JobRecord& record);
  /// What each datacenter's leader says; `unreachable` are those that could not be asked.
  std::vector<v1::DescribeDatacenterResponse> DescribeAll(const std::string& only, bool summary,
                                                          std::vector<std::string>* unreachable);

  const Parts parts_;
  const RecordPaths paths_;
  JobIndex index_;
};

}  // namespace houtu::master
