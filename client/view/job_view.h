// Jobs, stages, tasks, outputs and events as people read them. Pure: messages in, text out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/client_service.pb.h"
#include "houtu/v1/event.pb.h"
#include "houtu/v1/job.pb.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {

/// Whether the job has ended, in whatever way.
bool IsEnded(v1::JobState state);

/// "wordcount" made safe for a terminal, with the id: "wordcount (j0abc…)".
std::string JobTitle(const v1::JobStatus& status);

/// ID NAME ACCOUNT STATE TASKS AGE TIME; `wide` adds the datacenters and the message.
std::string JobTable(std::span<const v1::JobStatus> jobs, bool wide, absl::Time now);

/// Everything that `houtu job show` tells of a job: head, stages, waits, transfers, tasks (if any).
std::string JobDetails(const v1::JobStatus& status, std::span<const v1::TaskStatus> tasks,
                       absl::Time now);

/// STAGE TASK STATE DATACENTER NODE ATTEMPT TIME CPU MEMORY OUTPUT INPUT.
std::string TaskTable(std::span<const v1::TaskStatus> tasks, absl::Time now);

/// STAGE TASK NAME SIZE NODE.
std::string OutputTable(std::span<const v1::OutputFile> files);

/// TIME KIND WHERE MESSAGE.
std::string EventTable(std::span<const v1::JobEvent> events);

/// A sentence: "reduce in dc1: 3 tasks wait for room (no_free_capacity)".
std::string WaitLine(const v1::WaitReason& wait);

}  // namespace houtu::client
