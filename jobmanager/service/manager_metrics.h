// ManagerMetrics: the figures of one job's manager.
#pragma once

#include "common/http/metrics.h"
#include "jobmanager/core/effect.h"

namespace houtu::jobmanager {

/// Owner: main. Thread: the loop's.
class ManagerMetrics {
 public:
  explicit ManagerMetrics(Metrics* metrics);

  /// Called with each effect before it is carried out.
  void Observe(const Effect& effect);

 private:
  prometheus::Gauge& desire_;
  prometheus::Counter& batches_;
  prometheus::Counter& records_;
};

}  // namespace houtu::jobmanager
