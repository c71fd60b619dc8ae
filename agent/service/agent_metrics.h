// AgentMetrics: the agent's own figures.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "agent/core/shapes.h"
#include "common/http/metrics.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// Owner: main. Thread-safe.
class AgentMetrics {
 public:
  AgentMetrics(Metrics* metrics, std::string datacenter);

  void CountContainerStart(bool ok);
  void CountEnd(v1::TaskEndReason reason);
  /// The bytes that an attempt read, by where from.
  void CountInput(const LaunchResult& result);
  void SetLeases(int leases);
  void SetInService(bool in_service);

 private:
  void CountTransfer(const std::string& from, int64_t bytes);

  Metrics* const metrics_;
  const std::string datacenter_;
  prometheus::Counter& starts_ok_;
  prometheus::Counter& starts_failed_;
  prometheus::Gauge& leases_;
  prometheus::Gauge& in_service_;
  std::map<int, prometheus::Counter*> ends_;
  std::mutex mutex_;
  std::map<std::string, prometheus::Counter*> transfers_;
};

}  // namespace houtu::agent
