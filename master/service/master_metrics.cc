#include "master/service/master_metrics.h"

namespace houtu::master {

MasterMetrics::MasterMetrics(Metrics* metrics, const std::string& policy)
    : leader_(
          metrics->Gauge("houtu_master_is_leader", "1 while this master leads its datacenter.")),
      leadership_changes_(metrics->Counter("houtu_leadership_changes_total",
                                           "Times that this master began to lead.")),
      jobs_active_(metrics->Gauge("houtu_jobs", "Jobs, by state.", {{"state", "active"}})),
      jobs_submitted_(
          metrics->Counter("houtu_jobs_submitted_total", "Jobs that this master accepted.")),
      jobs_ended_(metrics->Counter("houtu_job_ends_total", "Ends of jobs that this master saw.")),
      cycle_(metrics->Histogram("houtu_allocator_cycle_duration_seconds",
                                "Time of one decision of the allocator.", DurationBounds(),
                                {{"allocator", policy}})) {
  for (const char* state : {"ready", "lost", "out_of_service"}) {
    nodes_[state] = &metrics->Gauge("houtu_nodes", "Nodes, by state.", {{"state", state}});
  }
  for (const char* kind : {"cpu_cores", "memory_bytes"}) {
    capacity_[kind] = &metrics->Gauge("houtu_resource_capacity", "What the ready nodes have.",
                                      {{"resource", kind}});
    allocated_[kind] = &metrics->Gauge("houtu_resource_allocated", "What leases hold of it.",
                                       {{"resource", kind}});
  }
  for (const char* state : {"connecting", "connected", "suspended", "expired"}) {
    zookeeper_[state] =
        &metrics->Gauge("houtu_zookeeper_session_state", "1 for the state that the session is in.",
                        {{"state", state}});
  }
}

void MasterMetrics::SetLeader(bool leads) {
  leader_.Set(leads ? 1 : 0);
  if (leads) {
    leadership_changes_.Increment();
  }
}

void MasterMetrics::SetZookeeperState(const std::string& state) {
  for (auto& [name, gauge] : zookeeper_) {
    gauge->Set(name == state ? 1 : 0);
  }
}

void MasterMetrics::SetCluster(const v1::Datacenter& summary, size_t active_jobs) {
  jobs_active_.Set(static_cast<double>(active_jobs));
  nodes_["ready"]->Set(summary.nodes_ready());
  nodes_["lost"]->Set(summary.nodes_lost());
  nodes_["out_of_service"]->Set(summary.nodes_out_of_service());
  capacity_["cpu_cores"]->Set(static_cast<double>(summary.capacity().cpu_millis()) / 1000);
  capacity_["memory_bytes"]->Set(static_cast<double>(summary.capacity().memory_bytes()));
  allocated_["cpu_cores"]->Set(static_cast<double>(summary.allocated().cpu_millis()) / 1000);
  allocated_["memory_bytes"]->Set(static_cast<double>(summary.allocated().memory_bytes()));
}

void MasterMetrics::Decided(absl::Duration took) { cycle_.Observe(absl::ToDoubleSeconds(took)); }

}  // namespace houtu::master
