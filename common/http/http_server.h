// HttpServer: GET /metrics, /healthz and /readyz of a daemon.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/http/metrics.h"

namespace houtu {

/// Owner: main. Handlers run on the server's own threads: what they call is thread-safe.
class HttpServer {
 public:
  struct Options {
    /// host:port to listen on (port 0: any free one).
    std::string address;
    const Metrics* metrics = nullptr;
    /// OK: 200 "ok"; else 503 with the message. healthz: the process does its work; readyz: it may
    /// be sent work.
    std::function<absl::Status()> healthz = [] { return absl::OkStatus(); };
    std::function<absl::Status()> readyz = [] { return absl::OkStatus(); };
  };

  /// FAILED_PRECONDITION: the address can't be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);
  ~HttpServer();

  /// The port it listens on.
  int port() const;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace houtu
