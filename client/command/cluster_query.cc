#include "client/command/cluster_query.h"

#include <fmt/format.h>

#include <vector>

#include "absl/time/clock.h"
#include "client/view/cluster_view.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

std::string QualifiedName(const v1::Node& node) { return node.datacenter() + "/" + node.name(); }

void TellUnreachable(const Console& console, const v1::ListNodesResponse& response) {
  for (const std::string& datacenter : response.unreachable()) {
    console.Note(fmt::format("warning: no master of {} could be reached; its nodes are not shown",
                             datacenter));
  }
}

absl::StatusOr<v1::Node> FindNode(const Console& console, Session* session,
                                  const std::string& node) {
  v1::ListNodesRequest request;
  const size_t slash = node.find('/');
  request.set_datacenter(slash == std::string::npos ? "" : node.substr(0, slash));
  request.set_node(slash == std::string::npos ? node : node.substr(slash + 1));
  HOUTU_ASSIGN_OR_RETURN(const v1::ListNodesResponse found, session->masters().ListNodes(request));
  TellUnreachable(console, found);
  if (found.nodes().empty()) {
    return found.unreachable().empty() ? Error(absl::StatusCode::kNotFound, "no node {}", node)
                                       : Error(absl::StatusCode::kUnavailable,
                                               "no node {} in the datacenters that answer", node);
  }
  if (found.nodes_size() > 1) {
    std::string names;
    for (const v1::Node& one : found.nodes()) {
      names += " " + QualifiedName(one);
    }
    return Error(absl::StatusCode::kFailedPrecondition, "{} is several nodes, name one:{}", node,
                 names);
  }
  return found.nodes(0);
}

}  // namespace

ExitStatus NodeList(const Console& console, Session* session, const std::string& datacenter) {
  v1::ListNodesRequest request;
  request.set_datacenter(datacenter);
  const absl::StatusOr<v1::ListNodesResponse> response = session->masters().ListNodes(request);
  if (!response.ok()) {
    return console.Fail(response.status());
  }
  TellUnreachable(console, *response);
  if (console.IsStructured()) {
    console.PrintMessage(*response);
  } else if (console.format == Format::kName) {
    for (const v1::Node& node : response->nodes()) {
      *console.out << QualifiedName(node) << "\n";
    }
  } else {
    const std::vector<v1::Node> nodes(response->nodes().begin(), response->nodes().end());
    *console.out << NodeTable(nodes, console.format == Format::kWide, absl::Now());
  }
  return ExitStatus::kDone;
}

ExitStatus NodeShow(const Console& console, Session* session, const std::string& node) {
  const absl::StatusOr<v1::Node> found = FindNode(console, session, node);
  if (!found.ok()) {
    return console.Fail(found.status());
  }
  if (console.IsStructured()) {
    console.PrintMessage(*found);
  } else if (console.format == Format::kName) {
    *console.out << QualifiedName(*found) << "\n";
  } else {
    *console.out << NodeDetails(*found, absl::Now());
  }
  return ExitStatus::kDone;
}

ExitStatus DatacenterList(const Console& console, Session* session) {
  const absl::StatusOr<v1::ListDatacentersResponse> response = session->masters().ListDatacenters();
  if (!response.ok()) {
    return console.Fail(response.status());
  }
  if (console.IsStructured()) {
    console.PrintMessage(*response);
  } else if (console.format == Format::kName) {
    for (const v1::Datacenter& dc : response->datacenters()) {
      *console.out << dc.name() << "\n";
    }
  } else {
    const std::vector<v1::Datacenter> all(response->datacenters().begin(),
                                          response->datacenters().end());
    *console.out << DatacenterTable(all);
  }
  return ExitStatus::kDone;
}

}  // namespace houtu::client
