// Jobs and reports as the tests write them.
#pragma once

#include <string>
#include <vector>

#include "houtu/v1/record.pb.h"
#include "houtu/v1/task.pb.h"

namespace houtu::jobmanager {

/// A job of the stages in one datacenter, "dc1", whose manager is the primary; its result is the
/// last stage's.
v1::JobRecord JobOf(const std::vector<v1::Stage>& stages,
                    const std::vector<std::string>& datacenters = {"dc1"});

v1::Stage StageOf(const std::string& name, int tasks, int attempts = 3);
v1::Stage Needing(v1::Stage stage, const std::string& upstream, v1::Exchange exchange);
/// A stage with no number of tasks of its own: one for each file of the paths, "dc1:/in/a*".
v1::Stage StageOver(const std::string& name, const std::vector<std::string>& inputs);

/// "stage/task#attempt".
std::string NameOf(const v1::AttemptId& id);
/// The partitions that a task reads, "stage/task:name".
std::vector<std::string> Reads(const v1::TaskSpec& spec);

// ---- What an attempt tells ----

v1::TaskReport Running(const v1::TaskSpec& spec);
v1::TaskReport Ended(const v1::TaskSpec& spec, v1::TaskEndReason reason);
v1::TaskReport Failed(const v1::TaskSpec& spec, int exit_status);
/// It succeeded and left these files of 10 bytes.
v1::TaskReport Succeeded(const v1::TaskSpec& spec, const std::vector<std::string>& files = {"0"});
/// It could not read what an attempt left on a node.
v1::TaskReport LostInput(const v1::TaskSpec& spec, const std::string& stage, int task, int attempt,
                         const std::string& node);

/// How attempts go, for JobWorld::run.
std::vector<v1::TaskReport> GoesOn(const v1::TaskSpec& spec);
std::vector<v1::TaskReport> Succeeds(const v1::TaskSpec& spec);

}  // namespace houtu::jobmanager
