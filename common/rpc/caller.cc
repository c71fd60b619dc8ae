#include "common/rpc/caller.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <string>

#include "common/base/status.h"

namespace houtu {

absl::StatusOr<Identity> CallerOf(const grpc::ServerContextBase& context) {
  const auto auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) {
    return Error(absl::StatusCode::kUnauthenticated, "the caller shows no certificate");
  }
  for (const grpc::string_ref& uri : auth->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    return ParseIdentity(std::string_view(uri.data(), uri.size()));
  }
  return Error(absl::StatusCode::kUnauthenticated,
               "the caller's certificate names no role (a URI houtu:…)");
}

absl::StatusOr<Identity> RequireRole(const grpc::ServerContextBase& context,
                                     std::initializer_list<Role> roles) {
  HOUTU_ASSIGN_OR_RETURN(Identity caller, CallerOf(context));
  if (std::find(roles.begin(), roles.end(), caller.role) == roles.end()) {
    return Error(absl::StatusCode::kPermissionDenied, "{} may not make this call",
                 Describe(caller));
  }
  return caller;
}

}  // namespace houtu
