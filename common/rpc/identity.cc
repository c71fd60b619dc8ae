#include "common/rpc/identity.h"

#include <algorithm>
#include <vector>

#include "common/base/status.h"

namespace houtu {
namespace {

constexpr std::string_view kScheme = "houtu:";

std::vector<std::string> SplitBySlash(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

absl::StatusOr<Identity> ParseIdentity(std::string_view uri) {
  const absl::Status wrong =
      Error(absl::StatusCode::kUnauthenticated,
            "the certificate names \"{}\"; expected houtu:master/DC, houtu:agent/DC/NODE, "
            "houtu:manager/DC/NODE, houtu:client/ACCOUNT or houtu:admin/NAME",
            uri);
  if (!uri.starts_with(kScheme)) {
    return wrong;
  }
  const std::vector<std::string> parts = SplitBySlash(uri.substr(kScheme.size()));
  if (std::any_of(parts.begin(), parts.end(), [](const std::string& p) { return p.empty(); })) {
    return wrong;
  }
  if (parts.size() == 2 && parts[0] == "master") {
    return Identity{.role = Role::kMaster, .datacenter = parts[1]};
  }
  if (parts.size() == 3 && (parts[0] == "agent" || parts[0] == "manager")) {
    return Identity{.role = parts[0] == "agent" ? Role::kAgent : Role::kManager,
                    .datacenter = parts[1],
                    .node = parts[2]};
  }
  if (parts.size() == 2 && (parts[0] == "client" || parts[0] == "admin")) {
    return Identity{.role = parts[0] == "client" ? Role::kClient : Role::kAdmin,
                    .account = parts[1]};
  }
  return wrong;
}

std::string Describe(const Identity& identity) {
  switch (identity.role) {
    case Role::kMaster:
      return "master " + identity.datacenter;
    case Role::kAgent:
      return "agent " + identity.datacenter + "/" + identity.node;
    case Role::kManager:
      return "job manager on " + identity.datacenter + "/" + identity.node;
    case Role::kClient:
      return "client of account " + identity.account;
    case Role::kAdmin:
      return "admin " + identity.account;
  }
  return "nobody";
}

}  // namespace houtu
