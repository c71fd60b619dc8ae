#include "jobmanager/core/task_spec.h"

#include <map>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/time.h"

namespace houtu::jobmanager {
namespace {

constexpr absl::Duration kDefaultGrace = absl::Seconds(5);

// Gathers one needed stage's partitions by the node that holds them.
class SourceList {
 public:
  SourceList(const StageTable& stages, int stage) : stages_(stages), stage_(stage) {}

  void AddNumbered(int task, int number) {
    const FinishedFact& fact = Fact(task);
    const int64_t size_bytes = NumberedSize(fact.task, number);
    if (size_bytes >= 0) {
      Add(fact, task, std::to_string(number), size_bytes);
    }
  }

  void AddWhole(int task) {
    const FinishedFact& fact = Fact(task);
    Add(fact, task, "", OutputBytes(fact.task));
  }

  std::vector<v1::PartitionSource> Take() {
    std::vector<v1::PartitionSource> sources;
    for (auto& [place, source] : sources_) {
      sources.push_back(std::move(source));
    }
    return sources;
  }

 private:
  const FinishedFact& Fact(int task) const {
    const FinishedFact* fact = stages_.Finished({stage_, task});
    HOUTU_CHECK(fact != nullptr, "a task starts when what it reads is there");
    return *fact;
  }

  void Add(const FinishedFact& fact, int task, std::string name, int64_t size_bytes) {
    v1::PartitionSource& source = sources_[{fact.datacenter, fact.task.node()}];
    if (source.node().empty()) {
      source.set_stage(stages_.name(stage_));
      source.set_node(fact.task.node());
      source.set_datacenter(fact.datacenter);
    }
    source.set_agent_address(fact.task.agent_address());
    v1::PartitionRef* partition = source.add_partitions();
    partition->set_task(task);
    partition->set_attempt(fact.task.attempt());
    partition->set_name(std::move(name));
    partition->set_size_bytes(size_bytes);
  }

  const StageTable& stages_;
  const int stage_;
  std::map<std::pair<std::string, std::string>, v1::PartitionSource> sources_;
};

std::vector<v1::PartitionSource> SourcesFor(const StageTable& stages, const StageFacts::Edge& need,
                                            int task) {
  SourceList sources(stages, need.stage);
  if (need.exchange == v1::EXCHANGE_ONE_TO_ONE) {
    sources.AddWhole(task);
    return sources.Take();
  }
  for (int upstream = 0; upstream < stages.at(need.stage).tasks(); ++upstream) {
    if (need.exchange == v1::EXCHANGE_SHUFFLE) {
      sources.AddNumbered(upstream, task);
    } else {
      sources.AddWhole(upstream);
    }
  }
  return sources.Take();
}

void AddProgram(const v1::Job& job, const v1::Stage& stage, v1::TaskSpec* spec) {
  *spec->mutable_command() = stage.command();
  *spec->mutable_env() = job.env();
  for (const auto& [name, value] : stage.env()) {
    (*spec->mutable_env())[name] = value;
  }
  if (stage.has_timeout()) {
    *spec->mutable_timeout() = stage.timeout();
  }
  *spec->mutable_grace() = ToProto(DurationOr(stage.has_grace(), stage.grace(), kDefaultGrace));
  *spec->mutable_declared_outputs() = stage.outputs();
}

}  // namespace

v1::AttemptId IdOf(const JobContext& context, const StageTable& stages, const AttemptRef& attempt) {
  v1::AttemptId id;
  id.set_job(context.job.id());
  id.set_stage(stages.name(attempt.task.stage));
  id.set_task(attempt.task.task);
  id.set_attempt(attempt.attempt);
  return id;
}

v1::TaskSpec BuildTaskSpec(const JobContext& context, const StageTable& stages,
                           const AttemptRef& attempt, const std::string& lease,
                           const ContainerShape& shape, const v1::RawInput* input) {
  const StageFacts& stage = stages.at(attempt.task.stage);
  v1::TaskSpec spec;
  *spec.mutable_id() = IdOf(context, stages, attempt);
  spec.set_lease_id(lease);
  spec.set_image(shape.system.image);
  spec.set_network(shape.system.network);
  *spec.mutable_resources() = shape.resources.ToProto();
  AddProgram(context.job.job(), *stage.spec, &spec);
  if (input != nullptr) {
    *spec.mutable_input() = *input;
  }
  for (const StageFacts::Edge& need : stage.needs) {
    for (v1::PartitionSource& source : SourcesFor(stages, need, attempt.task.task)) {
      *spec.add_upstream() = std::move(source);
    }
  }
  return spec;
}

int64_t NumberedSize(const v1::FinishedTask& task, int number) {
  return number < task.numbered_size_plus_one_size() ? task.numbered_size_plus_one(number) - 1 : -1;
}

int64_t OutputBytes(const v1::FinishedTask& task) {
  int64_t bytes = 0;
  for (const int64_t size_plus_one : task.numbered_size_plus_one()) {
    bytes += size_plus_one > 0 ? size_plus_one - 1 : 0;
  }
  for (const v1::Partition& partition : task.named()) {
    bytes += partition.size_bytes();
  }
  return bytes;
}

std::vector<v1::PartitionSource> StageSources(const StageTable& stages, int stage) {
  SourceList sources(stages, stage);
  for (int task = 0; task < stages.at(stage).tasks(); ++task) {
    sources.AddWhole(task);
  }
  return sources.Take();
}

}  // namespace houtu::jobmanager
