// JobWorld: one datacenter's master and agents.
#include <utility>

#include "absl/status/status.h"
#include "common/base/resources.h"
#include "tests/jobmanager/core/job_world.h"

namespace houtu::jobmanager {

// ---- The master ----

void JobWorld::Connect(const std::string& datacenter) {
  const Site& site = sites_.at(datacenter);
  if (!site.master_up) {
    return;
  }
  MasterConnected connected;
  for (const auto& [id, granted] : site.leases) {
    *connected.welcome.add_leases() = granted;
  }
  Push(datacenter, std::move(connected));
}

void JobWorld::SetMaster(bool up, const std::string& datacenter) {
  sites_.at(datacenter).master_up = up;
  if (up) {
    Connect(datacenter);
  } else {
    Push(datacenter, MasterDisconnected{"gone"});
  }
  Drain();
}

// As a master does, after each message and each lease's end: it grants what room it has.
void JobWorld::On(const std::string& datacenter, SendToMaster& send) {
  Site& site = sites_.at(datacenter);
  if (!site.master_up) {
    return;
  }
  if (send.message.has_release()) {
    site.leases.erase(send.message.release().lease_id());
  }
  if (send.message.has_desire()) {
    site.desire = send.message.desire();
  }
  GrantAll(datacenter);
}

void JobWorld::GrantAll(const std::string& datacenter) {
  for (const v1::Demand& demand : sites_.at(datacenter).desire.demands()) {
    Grant(datacenter, demand);
  }
}

void JobWorld::Grant(const std::string& datacenter, const v1::Demand& demand) {
  const Site& site = sites_.at(datacenter);
  int held = 0;
  std::map<std::string, int> on_node;
  for (const auto& [id, granted] : site.leases) {
    ++on_node[granted.lease().node()];
    held += Resources::FromProto(granted.lease().resources()) ==
                    Resources::FromProto(demand.resources())
                ? 1
                : 0;
  }
  for (const auto& [name, node] : site.nodes) {
    for (; node.alive && on_node[name] < containers_per_node && held < demand.containers();
         ++on_node[name], ++held) {
      GrantOne(datacenter, name, demand);
    }
  }
}

void JobWorld::GrantOne(const std::string& datacenter, const std::string& node,
                        const v1::Demand& demand) {
  v1::LeaseGranted granted;
  v1::Lease& lease = *granted.mutable_lease();
  lease.set_id(datacenter + ".1." + std::to_string(++grants));
  lease.set_job(job_.id());
  lease.set_node(node);
  *lease.mutable_resources() = demand.resources();
  lease.set_image(demand.image());
  granted.set_agent_address(datacenter + "-" + node + ":7201");
  places_[lease.id()] = {datacenter, node};
  Push(datacenter, LeaseWasGranted{granted});
  if (image_error.empty()) {
    sites_.at(datacenter).leases[lease.id()] = granted;
    return;
  }
  v1::LeaseRevoked revoked;
  revoked.set_lease_id(lease.id());
  revoked.set_reason(v1::LEASE_END_REASON_CONTAINER_FAILED);
  revoked.set_message(image_error);
  Push(datacenter, LeaseWasRevoked{revoked});
}

void JobWorld::On(const std::string& /*datacenter*/, ListInputs& list) {
  InputsListed listed{
      .stage = list.stage, .datacenter = list.datacenter, .response = absl::UnknownError("")};
  if (!listing_error.ok()) {
    listed.response = listing_error;
  } else {
    v1::ListInputsResponse response;
    for (const v1::Input& input : list.inputs) {
      const std::vector<v1::InputFile>& found = files[list.datacenter + ":" + input.path()];
      *response.add_inputs()->mutable_files() = {found.begin(), found.end()};
    }
    listed.response = std::move(response);
  }
  Push(job_.primary_datacenter(), std::move(listed));
  listings.push_back(std::move(list));
}

// ---- The agents ----

void JobWorld::On(const std::string& datacenter, OpenAgent& open) {
  sites_.at(datacenter).nodes.at(open.node).session = true;
  Welcome(datacenter, open.node);
}

void JobWorld::On(const std::string& datacenter, CloseAgent& close) {
  sites_.at(datacenter).nodes.at(close.node).session = false;
}

void JobWorld::Welcome(const std::string& datacenter, const std::string& node_name) {
  const Node& node = sites_.at(datacenter).nodes.at(node_name);
  if (!node.session || node.cut || !node.alive) {
    return;
  }
  AgentConnected connected{.node = node_name, .welcome = {}};
  connected.welcome.set_node(node_name);
  for (const auto& [name, attempt] : node.attempts) {
    *connected.welcome.add_tasks() = attempt.second;
  }
  Push(datacenter, std::move(connected));
}

void JobWorld::On(const std::string& datacenter, SendToAgent& send) {
  Node& node = sites_.at(datacenter).nodes.at(send.node);
  if (!node.session || node.cut || !node.alive) {
    return;
  }
  StartAll(datacenter, send.node, send.command.start());
  if (send.command.has_stop()) {
    Stop(datacenter, send.node, send.command.stop().id());
  }
  for (const v1::AttemptId& id : send.command.acknowledge().ids()) {
    acknowledged.push_back(NameOf(id));
    node.attempts.erase(NameOf(id));
  }
  for (const v1::AttemptId& id : send.command.acknowledge().discard()) {
    discarded.push_back(NameOf(id));
  }
}

void JobWorld::StartAll(const std::string& datacenter, const std::string& node,
                        const v1::StartTasks& start) {
  v1::TaskReports reports;
  for (const v1::TaskSpec& spec : start.tasks()) {
    started.push_back(spec);
    if (refuses(spec)) {
      v1::TaskRefused refused;
      *refused.mutable_id() = spec.id();
      Push(datacenter, StartRefused{node, std::move(refused)});
      continue;
    }
    auto& attempt = sites_.at(datacenter).nodes.at(node).attempts[NameOf(spec.id())];
    attempt = {spec, Running(spec)};
    for (v1::TaskReport& report : run(spec)) {
      attempt.second = report;
      *reports.add_reports() = std::move(report);
    }
  }
  if (reports.reports_size() > 0) {
    Push(datacenter, TasksReported{node, std::move(reports)});
  }
}

void JobWorld::Stop(const std::string& datacenter, const std::string& node,
                    const v1::AttemptId& id) {
  stopped.push_back(NameOf(id));
  auto& attempts = sites_.at(datacenter).nodes.at(node).attempts;
  const auto it = attempts.find(NameOf(id));
  if (!stops || it == attempts.end() || it->second.second.state() == v1::TaskReport::STATE_ENDED) {
    return;
  }
  it->second.second = Ended(it->second.first, v1::TASK_END_REASON_STOPPED);
  v1::TaskReports reports;
  *reports.add_reports() = it->second.second;
  Push(datacenter, TasksReported{node, std::move(reports)});
}

void JobWorld::Report(const v1::TaskSpec& spec, const v1::TaskReport& report) {
  const auto [datacenter, node_name] = places_.at(spec.lease_id());
  Node& node = sites_.at(datacenter).nodes.at(node_name);
  node.attempts[NameOf(spec.id())] = {spec, report};
  if (node.session && !node.cut && node.alive) {
    v1::TaskReports reports;
    *reports.add_reports() = report;
    Push(datacenter, TasksReported{node_name, std::move(reports)});
  }
  Drain();
}

void JobWorld::Revoke(const std::string& lease, v1::LeaseEndReason reason, bool node_fault) {
  const std::string datacenter = places_.at(lease).first;
  sites_.at(datacenter).leases.erase(lease);
  v1::LeaseRevoked revoked;
  revoked.set_lease_id(lease);
  revoked.set_reason(reason);
  revoked.set_node_fault(node_fault);
  Push(datacenter, LeaseWasRevoked{std::move(revoked)});
  GrantAll(datacenter);
  Drain();
}

void JobWorld::LoseNode(const std::string& node_name, const std::string& datacenter) {
  Site& site = sites_.at(datacenter);
  Node& node = site.nodes.at(node_name);
  node.alive = false;
  node.attempts.clear();
  Push(datacenter, AgentDisconnected{node_name, "gone"});
  for (const auto& [id, granted] : std::map(site.leases)) {
    if (granted.lease().node() == node_name) {
      site.leases.erase(id);
      v1::LeaseRevoked revoked;
      revoked.set_lease_id(id);
      revoked.set_reason(v1::LEASE_END_REASON_NODE_LOST);
      Push(datacenter, LeaseWasRevoked{std::move(revoked)});
    }
  }
  GrantAll(datacenter);
  Drain();
}

void JobWorld::Cut(const std::string& node, const std::string& datacenter) {
  sites_.at(datacenter).nodes.at(node).cut = true;
  Do(AgentDisconnected{node, "cut"}, datacenter);
}

void JobWorld::Heal(const std::string& node, const std::string& datacenter) {
  sites_.at(datacenter).nodes.at(node).cut = false;
  Welcome(datacenter, node);
  Drain();
}

}  // namespace houtu::jobmanager
