// The job managers' side of the master: one session per job, and raw inputs listed.
#pragma once

#include "common/loop/event_loop.h"
#include "houtu/v1/job_master_service.grpc.pb.h"
#include "master/service/master_shell.h"

namespace houtu::master {

/// Owner: main. Role manager, and the token of a job that is active here. A session is for a
/// manager of this datacenter; inputs are listed for any.
class JobMasterServiceShell final : public v1::JobMasterService::CallbackService {
 public:
  JobMasterServiceShell(EventLoop* loop, MasterShell* shell, std::string datacenter)
      : loop_(loop), shell_(shell), datacenter_(std::move(datacenter)) {}

  grpc::ServerBidiReactor<v1::JobManagerMessage, v1::JobMasterMessage>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListInputs(grpc::CallbackServerContext* context,
                                       const v1::ListInputsRequest* request,
                                       v1::ListInputsResponse* response) override;

 private:
  EventLoop* const loop_;
  MasterShell* const shell_;
  const std::string datacenter_;
};

}  // namespace houtu::master
