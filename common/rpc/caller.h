// Who calls: the identity in the peer's certificate.
#pragma once

#include <grpcpp/server_context.h>

#include "absl/status/statusor.h"
#include "common/rpc/identity.h"

namespace houtu {

/// The caller's identity. UNAUTHENTICATED: no certificate, or none of ours.
absl::StatusOr<Identity> CallerOf(const grpc::ServerContextBase& context);

/// The caller's identity if it has one of the roles. PERMISSION_DENIED names who called and what is
/// wanted.
absl::StatusOr<Identity> RequireRole(const grpc::ServerContextBase& context,
                                     std::initializer_list<Role> roles);

}  // namespace houtu
