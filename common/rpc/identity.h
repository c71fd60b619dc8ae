// Who is at the other end: read from the URI name in its certificate, which the cluster's CA
// vouches for.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace houtu {

enum class Role {
  kMaster,   // houtu:master/<dc>
  kAgent,    // houtu:agent/<dc>/<node>
  kManager,  // houtu:manager/<dc>/<node>: a job manager on that node; its job's token says which
  kClient,   // houtu:client/<account>
  kAdmin,    // houtu:admin/<name>: a client that may see and cancel every account's jobs
};

/// A certificate's holder.
struct Identity {
  Role role = Role::kClient;
  /// Of masters, agents and managers.
  std::string datacenter;
  /// Of agents and managers.
  std::string node;
  /// Of clients: the account; of admins: the name.
  std::string account;

  bool operator==(const Identity&) const = default;
  /// Client or admin.
  bool IsClient() const { return role == Role::kClient || role == Role::kAdmin; }
  /// Whether it may see and command the account's jobs.
  bool MayUseAccount(std::string_view owner) const {
    return role == Role::kAdmin || (role == Role::kClient && account == owner);
  }
};

/// "agent dc1/dc1-n1", for messages.
std::string Describe(const Identity& identity);

/// Reads "houtu:agent/dc1/dc1-n1". UNAUTHENTICATED: another scheme, an unknown role, a missing
/// part.
absl::StatusOr<Identity> ParseIdentity(std::string_view uri);

}  // namespace houtu
