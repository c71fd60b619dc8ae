#include "agent/service/agent_metrics.h"

#include <algorithm>
#include <cctype>

namespace houtu::agent {
namespace {

/// TASK_END_REASON_OUT_OF_MEMORY as "out_of_memory".
std::string LabelOf(v1::TaskEndReason reason) {
  constexpr size_t kPrefix = sizeof("TASK_END_REASON_") - 1;
  std::string name = v1::TaskEndReason_Name(reason).substr(kPrefix);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

constexpr char kStarts[] = "houtu_container_starts_total";
constexpr char kStartsHelp[] = "Containers that the agent tried to start.";

}  // namespace

AgentMetrics::AgentMetrics(Metrics* metrics, std::string datacenter)
    : metrics_(metrics),
      datacenter_(std::move(datacenter)),
      starts_ok_(metrics->Counter(kStarts, kStartsHelp, {{"result", "ok"}})),
      starts_failed_(metrics->Counter(kStarts, kStartsHelp, {{"result", "failed"}})),
      leases_(metrics->Gauge("houtu_agent_leases",
                             "Leases that the agent knows, ended ones "
                             "included until they are acknowledged.")),
      in_service_(metrics->Gauge("houtu_agent_in_service",
                                 "1: the node takes leases; 0: it is out of service.")) {
  for (int i = v1::TaskEndReason_MIN + 1; i <= v1::TaskEndReason_MAX; ++i) {
    ends_[i] = &metrics->Counter("houtu_task_attempts_total", "Attempts that ended on this node.",
                                 {{"end_reason", LabelOf(static_cast<v1::TaskEndReason>(i))}});
  }
  CountTransfer(datacenter_, 0);
}

void AgentMetrics::CountContainerStart(bool ok) { (ok ? starts_ok_ : starts_failed_).Increment(); }

void AgentMetrics::CountEnd(v1::TaskEndReason reason) {
  if (const auto it = ends_.find(reason); it != ends_.end()) {
    it->second->Increment();
  }
}

void AgentMetrics::CountInput(const LaunchResult& result) {
  for (const auto& [from, bytes] : result.input_bytes_from) {
    CountTransfer(from, bytes);
  }
}

void AgentMetrics::CountTransfer(const std::string& from, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  prometheus::Counter*& counter = transfers_[from];
  if (counter == nullptr) {
    counter = &metrics_->Counter("houtu_transfer_bytes_total",
                                 "Input bytes that this node read from other nodes, by datacenter.",
                                 {{"from", from}, {"to", datacenter_}});
  }
  counter->Increment(static_cast<double>(bytes));
}

void AgentMetrics::SetLeases(int leases) { leases_.Set(leases); }

void AgentMetrics::SetInService(bool in_service) { in_service_.Set(in_service ? 1 : 0); }

}  // namespace houtu::agent
