// PeerServer: what other managers of the job call.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "common/loop/event_loop.h"
#include "common/rpc/tls_material.h"
#include "jobmanager/core/event.h"

namespace houtu::jobmanager {

/// Owner: main. Only callers of the role manager that show the job's token are heard; from Serve on
/// their reports are posted to the loop, before it they are told to come again.
class PeerServer {
 public:
  /// Listens on a free port of the host. FAILED_PRECONDITION: it can't.
  static absl::StatusOr<std::unique_ptr<PeerServer>> Start(const std::string& host,
                                                           const TlsMaterial& tls, EventLoop* loop);
  virtual ~PeerServer() = default;

  virtual int port() const = 0;
  /// Thread-safe. `tell` runs on the loop's thread.
  virtual void Serve(const std::string& job, const std::string& token,
                     std::function<void(Event)> tell) = 0;
};

}  // namespace houtu::jobmanager
