#include "tests/client/fake_cluster.h"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>

#include "common/base/check.h"
#include "common/base/status.h"
#include "common/rpc/identity.h"

namespace houtu::client {
namespace {

std::unique_ptr<RpcServer> StartServer(const TlsMaterial& tls, grpc::Service* service) {
  auto server = RpcServer::Start("127.0.0.1:0", tls, {service});
  HOUTU_CHECK(server.ok(), "a free port of the loopback can be had");
  return *std::move(server);
}

std::string AddressOf(const RpcServer& server) {
  return fmt::format("127.0.0.1:{}", server.port());
}

/// PERMISSION_DENIED unless the caller's certificate is a client's.
absl::Status RequireClient(const grpc::ServerContext& context) {
  const auto uris = context.auth_context()->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME);
  if (uris.empty()) {
    return absl::UnauthenticatedError("the caller's certificate names no role");
  }
  HOUTU_ASSIGN_OR_RETURN(const Identity caller,
                         ParseIdentity(std::string_view(uris[0].data(), uris[0].size())));
  return caller.IsClient() ? absl::OkStatus()
                           : Error(absl::StatusCode::kPermissionDenied, "{} may not make this call",
                                   Describe(caller));
}

}  // namespace

template <typename Request, typename Response, typename Function>
grpc::Status FakeMaster::Answer(grpc::ServerContext* context, const Request& request,
                                Response* response, const Function& function) {
  if (const absl::Status caller = RequireClient(*context); !caller.ok()) {
    return ToGrpc(caller);
  }
  return function ? ToGrpc(function(request, response))
                  : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "not of this test");
}

void FakeMaster::Start(const TlsMaterial& tls) { server_ = StartServer(tls, this); }
std::string FakeMaster::address() const { return AddressOf(*server_); }

grpc::Status FakeMaster::SubmitJob(grpc::ServerContext* context,
                                   const v1::SubmitJobRequest* request,
                                   v1::SubmitJobResponse* response) {
  return Answer(context, *request, response, on_submit);
}
grpc::Status FakeMaster::GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                                v1::GetJobResponse* response) {
  return Answer(context, *request, response, on_get);
}
grpc::Status FakeMaster::ListTasks(grpc::ServerContext* context,
                                   const v1::ListTasksRequest* request,
                                   v1::ListTasksResponse* response) {
  return Answer(context, *request, response, on_tasks);
}
grpc::Status FakeMaster::ListOutputs(grpc::ServerContext* context,
                                     const v1::ListOutputsRequest* request,
                                     v1::ListOutputsResponse* response) {
  return Answer(context, *request, response, on_outputs);
}
grpc::Status FakeMaster::ListNodes(grpc::ServerContext* context,
                                   const v1::ListNodesRequest* request,
                                   v1::ListNodesResponse* response) {
  return Answer(context, *request, response, on_nodes);
}

grpc::Status FakeMaster::WatchJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                                  grpc::ServerWriter<v1::JobStatus>* writer) {
  for (const v1::JobStatus& status : on_watch(*request)) {
    writer->Write(status);
  }
  return ToGrpc(watch_end);
}

void FakeAgent::Start(const TlsMaterial& tls) { server_ = StartServer(tls, this); }
std::string FakeAgent::address() const { return AddressOf(*server_); }

grpc::Status FakeAgent::ReadLog(grpc::ServerContext*, const v1::ReadLogRequest* request,
                                grpc::ServerWriter<v1::LogChunk>* writer) {
  const LogAnswer answer = on_log(*request);
  for (const v1::LogChunk& chunk : answer.chunks) {
    writer->Write(chunk);
  }
  return ToGrpc(answer.end);
}

grpc::Status FakeAgent::FetchPartitions(grpc::ServerContext*,
                                        const v1::FetchPartitionsRequest* request,
                                        grpc::ServerWriter<v1::FileChunk>* writer) {
  const FilesAnswer answer = on_fetch(*request);
  for (const v1::FileChunk& chunk : answer.chunks) {
    writer->Write(chunk);
  }
  return ToGrpc(answer.end);
}

}  // namespace houtu::client
