// Nodes and datacenters as people read them. Pure.
#pragma once

#include <span>
#include <string>

#include "absl/time/time.h"
#include "houtu/v1/node.pb.h"

namespace houtu::client {

/// DATACENTER NODE STATE LEASES CPU MEMORY HEARD; used/capacity each. `wide` adds rack, address,
/// disk and the message.
std::string NodeTable(std::span<const v1::Node> nodes, bool wide, absl::Time now);

/// Everything known of a node.
std::string NodeDetails(const v1::Node& node, absl::Time now);

/// NAME MASTER TERM STANDBYS NODES CPU MEMORY POLICY.
std::string DatacenterTable(std::span<const v1::Datacenter> datacenters);

}  // namespace houtu::client
