#include "jobmanager/service/peer_service.h"

#include <openssl/crypto.h>

#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/rpc/caller.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "houtu/v1/peer_service.grpc.pb.h"

namespace houtu::jobmanager {
namespace {

struct Served {
  std::string job;
  std::string token;
  std::function<void(Event)> tell;
};

bool SameToken(const std::string& shown, const std::string& own) {
  return !own.empty() && shown.size() == own.size() &&
         CRYPTO_memcmp(shown.data(), own.data(), own.size()) == 0;
}

class PeerService final : public v1::PeerService::CallbackService {
 public:
  explicit PeerService(EventLoop* loop) : loop_(loop) {}

  void Serve(Served served) {
    const std::lock_guard lock(mutex_);
    served_ = std::make_shared<const Served>(std::move(served));
  }

  grpc::ServerUnaryReactor* ReportSubJob(grpc::CallbackServerContext* context,
                                         const v1::SubJobReport* request,
                                         v1::SubJobReportResponse* /*response*/) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(Take(*context, *request)));
    return reactor;
  }

 private:
  absl::Status Take(const grpc::CallbackServerContext& context, const v1::SubJobReport& request) {
    HOUTU_RETURN_IF_ERROR(RequireRole(context, {Role::kManager}).status());
    std::shared_ptr<const Served> served;
    {
      const std::lock_guard lock(mutex_);
      served = served_;
    }
    if (served == nullptr) {
      return Error(absl::StatusCode::kUnavailable, "the manager is still starting");
    }
    if (request.job() != served->job || !SameToken(request.token(), served->token)) {
      return Error(absl::StatusCode::kPermissionDenied, "the token shown is not that of job {}",
                   served->job);
    }
    loop_->Post([served, report = request] { served->tell(PeerReported{report}); });
    return absl::OkStatus();
  }

  EventLoop* const loop_;
  std::mutex mutex_;
  std::shared_ptr<const Served> served_;
};

class GrpcPeerServer final : public PeerServer {
 public:
  explicit GrpcPeerServer(EventLoop* loop) : service_(loop) {}

  absl::Status Listen(const std::string& host, const TlsMaterial& tls) {
    HOUTU_ASSIGN_OR_RETURN(server_, RpcServer::Start(host + ":0", tls, {&service_}));
    return absl::OkStatus();
  }

  int port() const override { return server_->port(); }

  void Serve(const std::string& job, const std::string& token,
             std::function<void(Event)> tell) override {
    service_.Serve({job, token, std::move(tell)});
  }

 private:
  PeerService service_;
  std::unique_ptr<RpcServer> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PeerServer>> PeerServer::Start(const std::string& host,
                                                              const TlsMaterial& tls,
                                                              EventLoop* loop) {
  auto server = std::make_unique<GrpcPeerServer>(loop);
  HOUTU_RETURN_IF_ERROR(server->Listen(host, tls));
  return std::unique_ptr<PeerServer>(std::move(server));
}

}  // namespace houtu::jobmanager
