// ExecutorConnection: one connected socket to an executor; frames in and out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace houtu::agent {

/// A message and the process that sent it, as seen from the agent's own pid namespace.
struct ReceivedMessage {
  std::string bytes;
  pid_t sender = 0;
};

/// Owner: one call. Not thread-safe.
class ExecutorConnection {
 public:
  ExecutorConnection() = default;
  ~ExecutorConnection();
  ExecutorConnection(const ExecutorConnection&) = delete;
  ExecutorConnection& operator=(const ExecutorConnection&) = delete;

  /// UNAVAILABLE: nobody listens, or not `executor_pid` (0: anybody).
  absl::Status Open(const std::filesystem::path& ctl, pid_t executor_pid, absl::Duration limit);

  /// UNAVAILABLE: the executor went away. DEADLINE_EXCEEDED: it took longer than the limit.
  absl::Status Send(const std::string& message);
  absl::StatusOr<ReceivedMessage> Receive();

 private:
  absl::Status ReceiveAll(char* bytes, size_t size, pid_t& sender);

  int fd_ = -1;
};

}  // namespace houtu::agent
