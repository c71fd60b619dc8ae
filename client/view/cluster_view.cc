#include "client/view/cluster_view.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "client/text/safe_text.h"
#include "client/text/table.h"
#include "client/text/units.h"
#include "common/base/resources.h"
#include "common/base/time.h"

namespace houtu::client {
namespace {

using Align = Table::Align;

std::string Cpu(const v1::Resources& used, const v1::Resources& all) {
  return fmt::format("{}/{}", DescribeCpu(used.cpu_millis()), DescribeCpu(all.cpu_millis()));
}

std::string Memory(const v1::Resources& used, const v1::Resources& all) {
  return fmt::format("{}/{}", HumanBytes(used.memory_bytes()), HumanBytes(all.memory_bytes()));
}

std::string Heard(const v1::Node& node, absl::Time now) {
  const std::string ago = HumanSpan(node.heard_at(), {}, now);
  return ago.empty() ? "" : ago + " ago";
}

void AddLine(std::string_view key, const std::string& value, std::string* out) {
  if (!value.empty()) {
    *out += fmt::format("{:<13}{}\n", fmt::format("{}:", key), SafeLine(value));
  }
}

}  // namespace

std::string NodeTable(std::span<const v1::Node> nodes, bool wide, absl::Time now) {
  std::vector<Table::Column> columns = {{"DATACENTER"},
                                        {"NODE"},
                                        {"STATE"},
                                        {"LEASES", Align::kRight},
                                        {"CPU", Align::kRight},
                                        {"MEMORY", Align::kRight},
                                        {"HEARD", Align::kRight}};
  if (wide) {
    columns.insert(columns.end(),
                   {{"RACK"}, {"ADDRESS"}, {"DISK FREE", Align::kRight}, {"MESSAGE"}});
  }
  Table table(std::move(columns));
  for (const v1::Node& node : nodes) {
    std::vector<std::string> row = {node.datacenter(),
                                    node.name(),
                                    ShortName(node.state()),
                                    fmt::format("{}", node.leases()),
                                    Cpu(node.allocated(), node.capacity()),
                                    Memory(node.allocated(), node.capacity()),
                                    Heard(node, now)};
    if (wide) {
      row.insert(row.end(), {node.rack(), node.agent_address(), HumanBytes(node.disk_free_bytes()),
                             node.message()});
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

std::string NodeDetails(const v1::Node& node, absl::Time now) {
  std::string out;
  AddLine("node", node.name(), &out);
  AddLine("datacenter", node.datacenter(), &out);
  AddLine("rack", node.rack(), &out);
  AddLine("state", ShortName(node.state()), &out);
  AddLine("message", node.message(), &out);
  AddLine("address", node.agent_address(), &out);
  AddLine("leases", fmt::format("{}", node.leases()), &out);
  AddLine("capacity", Resources::FromProto(node.capacity()).Describe(), &out);
  AddLine("allocated", Resources::FromProto(node.allocated()).Describe(), &out);
  AddLine("disk free", HumanBytes(node.disk_free_bytes()), &out);
  AddLine("heard", Heard(node, now), &out);
  const std::map<std::string, std::string> sorted(node.features().begin(), node.features().end());
  for (const auto& [name, value] : sorted) {
    AddLine(name, value, &out);
  }
  return out;
}

std::string DatacenterTable(std::span<const v1::Datacenter> datacenters) {
  Table table({{"NAME"},
               {"MASTER"},
               {"TERM", Align::kRight},
               {"STANDBYS", Align::kRight},
               {"READY", Align::kRight},
               {"OUT", Align::kRight},
               {"LOST", Align::kRight},
               {"CPU", Align::kRight},
               {"MEMORY", Align::kRight},
               {"POLICY"}});
  for (const v1::Datacenter& dc : datacenters) {
    const auto if_reached = [&](std::string text) { return dc.reachable() ? text : "?"; };
    table.Add({dc.name(), dc.master_address().empty() ? "no leader" : dc.master_address(),
               fmt::format("{}", dc.master_term()), fmt::format("{}", dc.standbys()),
               if_reached(fmt::format("{}", dc.nodes_ready())),
               if_reached(fmt::format("{}", dc.nodes_out_of_service())),
               if_reached(fmt::format("{}", dc.nodes_lost())),
               if_reached(Cpu(dc.allocated(), dc.capacity())),
               if_reached(Memory(dc.allocated(), dc.capacity())), dc.policy()});
  }
  return table.Render();
}

}  // namespace houtu::client
