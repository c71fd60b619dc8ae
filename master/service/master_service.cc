#include "master/service/master_service.h"

#include "common/base/status.h"
#include "common/rpc/caller.h"
#include "common/rpc/status.h"

namespace houtu::master {

grpc::ServerUnaryReactor* MasterServiceShell::ForwardJob(grpc::CallbackServerContext* context,
                                                         const v1::ForwardJobRequest* request,
                                                         v1::ForwardJobResponse* /*response*/) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status status = RequireRole(*context, {Role::kMaster}).status();
  if (status.ok()) {
    status = view_->RequireLeading().status();
  }
  if (status.ok()) {
    loop_->Post([shell = shell_, job = request->job_id()] { shell->LookAtJob(job); });
  }
  reactor->Finish(ToGrpc(status));
  return reactor;
}

grpc::ServerUnaryReactor* MasterServiceShell::DescribeDatacenter(
    grpc::CallbackServerContext* context, const v1::DescribeDatacenterRequest* request,
    v1::DescribeDatacenterResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status status = RequireRole(*context, {Role::kMaster}).status();
  if (status.ok()) {
    status = view_->RequireLeading().status();
  }
  if (status.ok()) {
    const auto cluster = view_->ClusterNow();
    *response->mutable_datacenter() = cluster->summary;
    if (!request->summary()) {
      response->mutable_nodes()->Assign(cluster->nodes.begin(), cluster->nodes.end());
    }
  }
  reactor->Finish(ToGrpc(status));
  return reactor;
}

}  // namespace houtu::master
