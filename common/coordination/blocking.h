// Coordination for code that waits: a shell's start, tools, tests. Never on the owner's thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/coordination/coordination.h"

namespace houtu::coordination {

/// The operations of a Coordination, each posted to the owner's thread and waited for.
///
/// Owner: the waiting code. Lifetime: within that of its Coordination. Thread-safe, but not for the
/// thread that Coordination::post leads to: it would wait for itself. Status codes as there, and
/// DEADLINE_EXCEEDED when `timeout` passes, for reads too.
class BlockingCoordination {
 public:
  /// `timeout`: the wait for each call.
  BlockingCoordination(Coordination* coordination, absl::Duration timeout)
      : coordination_(coordination), timeout_(timeout) {}

  /// OK once the session is connected; UNAVAILABLE if it expired or `timeout` passes.
  absl::Status AwaitConnected() const;

  absl::StatusOr<std::string> Create(const std::string& path, const std::string& data,
                                     CreateFlags flags = {}) const;
  absl::StatusOr<Node> Get(const std::string& path) const;
  absl::StatusOr<Stat> Set(const std::string& path, const std::string& data,
                           int32_t version = kAnyVersion) const;
  absl::Status Delete(const std::string& path, int32_t version = kAnyVersion) const;
  /// Sorted names.
  absl::StatusOr<std::vector<std::string>> GetChildren(const std::string& path) const;
  absl::StatusOr<std::optional<Stat>> Exists(const std::string& path) const;
  MultiResult Multi(const std::vector<Op>& ops) const;
  absl::Status EnsurePath(const std::string& path) const;

 private:
  Coordination* const coordination_;
  const absl::Duration timeout_;
};

}  // namespace houtu::coordination
