#include "tests/jobmanager/core/jobs.h"

#include "common/base/resources.h"

namespace houtu::jobmanager {
namespace {

constexpr int64_t kTaskMemory = 32 << 20;

}  // namespace

v1::JobRecord JobOf(const std::vector<v1::Stage>& stages,
                    const std::vector<std::string>& datacenters) {
  v1::JobRecord record;
  record.set_id("j0000000000000000000");
  *record.mutable_datacenters() = {datacenters.begin(), datacenters.end()};
  record.set_primary_datacenter(datacenters.front());
  v1::Job& job = *record.mutable_job();
  job.set_version("houtu/v1");
  job.set_name("test");
  job.set_image("host");
  *job.mutable_stages() = {stages.begin(), stages.end()};
  job.mutable_output()->set_stage(stages.back().name());
  return record;
}

v1::Stage StageOf(const std::string& name, int tasks, int attempts) {
  v1::Stage stage;
  stage.set_name(name);
  stage.set_tasks(tasks);
  stage.add_command("/bin/true");
  *stage.mutable_resources() = Resources(100, kTaskMemory).ToProto();
  stage.mutable_retry()->set_attempts(attempts);
  stage.mutable_retry()->mutable_backoff()->set_seconds(1);
  return stage;
}

v1::Stage Needing(v1::Stage stage, const std::string& upstream, v1::Exchange exchange) {
  v1::Need* need = stage.add_needs();
  need->set_stage(upstream);
  need->set_exchange(exchange);
  return stage;
}

v1::Stage StageOver(const std::string& name, const std::vector<std::string>& inputs) {
  v1::Stage stage = StageOf(name, 0);
  stage.clear_tasks();
  for (const std::string& text : inputs) {
    v1::Input* input = stage.add_inputs();
    input->set_datacenter(text.substr(0, text.find(':')));
    input->set_path(text.substr(text.find(':') + 1));
  }
  return stage;
}

std::string NameOf(const v1::AttemptId& id) {
  return id.stage() + "/" + std::to_string(id.task()) + "#" + std::to_string(id.attempt());
}

std::vector<std::string> Reads(const v1::TaskSpec& spec) {
  std::vector<std::string> names;
  for (const v1::PartitionSource& source : spec.upstream()) {
    for (const v1::PartitionRef& ref : source.partitions()) {
      names.push_back(source.stage() + "/" + std::to_string(ref.task()) + ":" + ref.name());
    }
  }
  return names;
}

v1::TaskReport Running(const v1::TaskSpec& spec) {
  v1::TaskReport report;
  *report.mutable_id() = spec.id();
  report.set_lease_id(spec.lease_id());
  report.set_state(v1::TaskReport::STATE_RUNNING);
  return report;
}

v1::TaskReport Ended(const v1::TaskSpec& spec, v1::TaskEndReason reason) {
  v1::TaskReport report = Running(spec);
  report.set_state(v1::TaskReport::STATE_ENDED);
  report.set_end_reason(reason);
  return report;
}

v1::TaskReport Failed(const v1::TaskSpec& spec, int exit_status) {
  v1::TaskReport report = Ended(spec, v1::TASK_END_REASON_FAILED);
  report.set_exit_status(exit_status);
  return report;
}

v1::TaskReport Succeeded(const v1::TaskSpec& spec, const std::vector<std::string>& files) {
  v1::TaskReport report = Ended(spec, v1::TASK_END_REASON_SUCCEEDED);
  for (const std::string& name : files) {
    v1::Partition* file = report.add_partitions();
    file->set_name(name);
    file->set_size_bytes(10);
  }
  return report;
}

v1::TaskReport LostInput(const v1::TaskSpec& spec, const std::string& stage, int task, int attempt,
                         const std::string& node) {
  v1::TaskReport report = Ended(spec, v1::TASK_END_REASON_INPUT_LOST);
  v1::LostPartition* lost = report.add_lost();
  lost->set_stage(stage);
  lost->set_task(task);
  lost->set_attempt(attempt);
  lost->set_node(node);
  return report;
}

std::vector<v1::TaskReport> GoesOn(const v1::TaskSpec& spec) { return {Running(spec)}; }

std::vector<v1::TaskReport> Succeeds(const v1::TaskSpec& spec) {
  return {Running(spec), Succeeded(spec)};
}

}  // namespace houtu::jobmanager
