#include "common/http/http_server.h"

#include <CivetServer.h>

#include <utility>
#include <vector>

#include "common/base/status.h"

namespace houtu {
namespace {

void Answer(mg_connection* connection, int code, const char* reason, const std::string& type,
            const std::string& body) {
  mg_printf(
      connection,
      "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
      code, reason, type.c_str(), body.size());
  mg_write(connection, body.data(), body.size());
}

class MetricsHandler : public CivetHandler {
 public:
  explicit MetricsHandler(const Metrics* metrics) : metrics_(metrics) {}
  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    Answer(connection, 200, "OK", "text/plain; version=0.0.4; charset=utf-8", metrics_->Text());
    return true;
  }

 private:
  const Metrics* metrics_;
};

class CheckHandler : public CivetHandler {
 public:
  explicit CheckHandler(std::function<absl::Status()> check) : check_(std::move(check)) {}
  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    const absl::Status status = check_();
    if (status.ok()) {
      Answer(connection, 200, "OK", "text/plain", "ok\n");
    } else {
      Answer(connection, 503, "Service Unavailable", "text/plain", Message(status) + "\n");
    }
    return true;
  }

 private:
  std::function<absl::Status()> check_;
};

}  // namespace

struct HttpServer::Parts {
  MetricsHandler metrics;
  CheckHandler healthz;
  CheckHandler readyz;
  std::unique_ptr<CivetServer> server;  // last: stops before its handlers go
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  auto parts = std::unique_ptr<Parts>(new Parts{.metrics = MetricsHandler(options.metrics),
                                                .healthz = CheckHandler(options.healthz),
                                                .readyz = CheckHandler(options.readyz)});
  const std::vector<std::string> settings = {
      "listening_ports", options.address, "num_threads", "2", "request_timeout_ms", "5000"};
  try {
    parts->server = std::make_unique<CivetServer>(settings);
  } catch (const CivetException& e) {
    return Error(absl::StatusCode::kFailedPrecondition, "http: can't listen on {}: {}",
                 options.address, e.what());
  }
  // "$": civetweb would take "/metrics2" for it too.
  parts->server->addHandler("/metrics$", parts->metrics);
  parts->server->addHandler("/healthz$", parts->healthz);
  parts->server->addHandler("/readyz$", parts->readyz);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return parts_->server->getListeningPorts().at(0); }

}  // namespace houtu
