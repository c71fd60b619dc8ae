// The job managers' side of the master: one session per job, and raw inputs listed.
#pragma once

#include "common/loop/event_loop.h"
#include "houtu/v1/job_master_service.grpc.pb.h"
#include "master/service/master_shell.h"

namespace houtu::master {

/// Owner: main. Role manager, and the token of a job that is active here.
class JobMasterServiceShell final : public v1::JobMasterService::CallbackService {
 public:
  JobMasterServiceShell(EventLoop* loop, MasterShell* shell) : loop_(loop), shell_(shell) {}

  grpc::ServerBidiReactor<v1::JobManagerMessage, v1::JobMasterMessage>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListInputs(grpc::CallbackServerContext* context,
                                       const v1::ListInputsRequest* request,
                                       v1::ListInputsResponse* response) override;

 private:
  EventLoop* const loop_;
  MasterShell* const shell_;
};

}  // namespace houtu::master
