// RpcServer: a gRPC server with mTLS and our limits. A caller without a certificate of the
// cluster's CA does not get through the handshake; what a role may call, each service decides
// (caller.h).
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/tls_material.h"

namespace houtu {

/// Owner: the daemon's main; services must outlive it.
class RpcServer {
 public:
  /// Listens on host:port (port 0: any free one). FAILED_PRECONDITION: the address can't be bound.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const std::string& address, const TlsMaterial& tls,
      const std::vector<grpc::Service*>& services);
  /// As Shutdown(1 s).
  ~RpcServer();

  /// The port it listens on.
  int port() const { return port_; }

  /// Refuses new calls, lets running ones end until the deadline, cancels the rest, waits for them.
  void Shutdown(absl::Duration grace);

 private:
  RpcServer(std::unique_ptr<grpc::Server> server, int port);

  std::unique_ptr<grpc::Server> server_;
  int port_;
};

}  // namespace houtu
