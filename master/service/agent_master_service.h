// The agents' side of the master: one session per agent.
#pragma once

#include "common/loop/event_loop.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"
#include "master/service/master_shell.h"

namespace houtu::master {

/// Owner: main. Agents of this datacenter alone (the node in the certificate is the node that
/// registers).
class AgentMasterServiceShell final : public v1::AgentMasterService::CallbackService {
 public:
  AgentMasterServiceShell(EventLoop* loop, MasterShell* shell, std::string datacenter)
      : loop_(loop), shell_(shell), datacenter_(std::move(datacenter)) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::MasterCommand>* Session(
      grpc::CallbackServerContext* context) override;

 private:
  EventLoop* const loop_;
  MasterShell* const shell_;
  const std::string datacenter_;
};

}  // namespace houtu::master
