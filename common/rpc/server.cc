#include "common/rpc/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include "common/base/status.h"
#include "common/rpc/limits.h"

namespace houtu {
namespace {

std::shared_ptr<grpc::ServerCredentials> Credentials(const TlsMaterial& tls) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.ca;
  options.pem_key_cert_pairs.push_back({.private_key = tls.key, .cert_chain = tls.certificate});
  return grpc::SslServerCredentials(options);
}

void SetLimits(grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMessageBytesMax);
  builder->SetMaxSendMessageSize(kMessageBytesMax);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              static_cast<int>(absl::ToInt64Milliseconds(kPingIntervalAccepted)));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                              static_cast<int>(absl::ToInt64Milliseconds(kKeepaliveInterval)));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              static_cast<int>(absl::ToInt64Milliseconds(kKeepaliveTimeout)));
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const std::string& address, const TlsMaterial& tls,
    const std::vector<grpc::Service*>& services) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, Credentials(tls), &port);
  SetLimits(&builder);
  for (grpc::Service* service : services) {
    builder.RegisterService(service);
  }
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "can't listen on {}: the address is in use or not this machine's, or the TLS files "
        "don't belong together",
        address);
  }
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(server), port));
}

RpcServer::RpcServer(std::unique_ptr<grpc::Server> server, int port)
    : server_(std::move(server)), port_(port) {}

RpcServer::~RpcServer() { Shutdown(absl::Seconds(1)); }

void RpcServer::Shutdown(absl::Duration grace) {
  server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
  server_->Wait();
}

}  // namespace houtu
