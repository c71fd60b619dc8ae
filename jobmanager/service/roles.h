// Roles: who of a job's managers is the primary. Today the job's record says it, once and for all;
// an election among the managers will say it here, and the shell will then start a new core.
#pragma once

#include <string>

#include "houtu/v1/record.pb.h"

namespace houtu::jobmanager {

/// The datacenter whose manager unfolds the job and is told by the others.
inline const std::string& PrimaryDatacenter(const v1::JobRecord& job) {
  return job.primary_datacenter();
}

}  // namespace houtu::jobmanager
