// The master's metrics (the list in docs/metrics): set by the shell, read by Prometheus.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "common/http/metrics.h"
#include "houtu/v1/node.pb.h"

namespace houtu::master {

/// Owner: main. Thread-safe.
class MasterMetrics {
 public:
  MasterMetrics(Metrics* metrics, const std::string& policy);

  void SetLeader(bool leads);
  void SetZookeeperState(const std::string& state);
  void SetCluster(const v1::Datacenter& summary, size_t active_jobs);
  void Decided(absl::Duration took);
  void JobEnded() { jobs_ended_.Increment(); }
  void JobSubmitted() { jobs_submitted_.Increment(); }

 private:
  prometheus::Gauge& leader_;
  prometheus::Counter& leadership_changes_;
  prometheus::Gauge& jobs_active_;
  prometheus::Counter& jobs_submitted_;
  prometheus::Counter& jobs_ended_;
  prometheus::Histogram& cycle_;
  std::map<std::string, prometheus::Gauge*> nodes_;
  std::map<std::string, prometheus::Gauge*> capacity_;
  std::map<std::string, prometheus::Gauge*> allocated_;
  std::map<std::string, prometheus::Gauge*> zookeeper_;
};

}  // namespace houtu::master
