// Master to master: a nudge about a job, and what this datacenter has.
#pragma once

#include "common/loop/event_loop.h"
#include "houtu/v1/master_service.grpc.pb.h"
#include "master/service/master_shell.h"
#include "master/service/shared_view.h"

namespace houtu::master {

/// Owner: main. Role master.
class MasterServiceShell final : public v1::MasterService::CallbackService {
 public:
  MasterServiceShell(EventLoop* loop, MasterShell* shell, const SharedView* view)
      : loop_(loop), shell_(shell), view_(view) {}

  grpc::ServerUnaryReactor* ForwardJob(grpc::CallbackServerContext* context,
                                       const v1::ForwardJobRequest* request,
                                       v1::ForwardJobResponse* response) override;
  grpc::ServerUnaryReactor* DescribeDatacenter(grpc::CallbackServerContext* context,
                                               const v1::DescribeDatacenterRequest* request,
                                               v1::DescribeDatacenterResponse* response) override;

 private:
  EventLoop* const loop_;
  MasterShell* const shell_;
  const SharedView* const view_;
};

}  // namespace houtu::master
