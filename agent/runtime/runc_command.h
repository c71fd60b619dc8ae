// RuncCommand: runc's command line, with a deadline and its own first error line.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace houtu::agent {

/// Owner: RuncRuntime. Stateless, thread-safe for different containers; calls block up to `limit`.
class RuncCommand {
 public:
  RuncCommand(std::string runc, std::filesystem::path state_dir, absl::Duration limit)
      : runc_(std::move(runc)), state_dir_(std::move(state_dir)), limit_(limit) {}

  /// "1.1.5". FAILED_PRECONDITION: no such program, or it does not answer.
  absl::StatusOr<std::string> Version() const;

  /// Runs the bundle's config.json, detached; the first process's pid. `bundle` also gets runc.log
  /// and pid. DEADLINE_EXCEEDED. INTERNAL: runc's own first error line.
  absl::StatusOr<pid_t> Run(const std::string& id, const std::filesystem::path& bundle) const;

  /// Ends the container and forgets it. OK if runc knows none. DEADLINE_EXCEEDED, INTERNAL.
  absl::Status Delete(const std::string& id) const;

  /// Whether runc keeps a state of that name: the container was started, and not deleted.
  bool Knows(const std::string& id) const;

 private:
  std::string runc_;
  std::filesystem::path state_dir_;
  absl::Duration limit_;
};

}  // namespace houtu::agent
