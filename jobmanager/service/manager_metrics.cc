#include "jobmanager/service/manager_metrics.h"

#include <variant>

namespace houtu::jobmanager {

ManagerMetrics::ManagerMetrics(Metrics* metrics)
    : desire_(metrics->Gauge("houtu_job_desire_containers",
                             "Containers that the manager asks its master for.")),
      batches_(metrics->Counter("houtu_job_record_batches_total",
                                "Multis that the manager sent to ZooKeeper.")),
      records_(metrics->Counter("houtu_job_records_written_total", "Records in these multis.")) {}

void ManagerMetrics::Observe(const Effect& effect) {
  if (const auto* write = std::get_if<WriteRecords>(&effect)) {
    batches_.Increment();
    records_.Increment(static_cast<double>(write->writes.size()));
  } else if (const auto* send = std::get_if<SendToMaster>(&effect);
             send != nullptr && send->message.has_desire()) {
    int containers = 0;
    for (const v1::Demand& demand : send->message.desire().demands()) {
      containers += demand.containers();
    }
    desire_.Set(containers);
  }
}

}  // namespace houtu::jobmanager
