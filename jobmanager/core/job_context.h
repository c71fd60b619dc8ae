// JobContext: what stays the same for a job manager's whole life.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "houtu/v1/record.pb.h"

namespace houtu::jobmanager {

struct JobContext {
  v1::JobRecord job;
  /// The manager's own datacenter.
  std::string datacenter;
  /// The node that it runs on.
  std::string node;
  /// The manager's term, from 1: one above its record's ZooKeeper version.
  int64_t term = 1;
  /// L: how often idle leases and the desire are looked at.
  absl::Duration period = absl::Seconds(1);

  bool primary() const { return job.primary_datacenter() == datacenter; }
};

}  // namespace houtu::jobmanager
