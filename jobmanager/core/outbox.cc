#include "jobmanager/core/outbox.h"

#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

int64_t PartitionsOf(const v1::TaskSpec& spec) {
  int64_t partitions = 0;
  for (const v1::PartitionSource& source : spec.upstream()) {
    partitions += source.partitions_size();
  }
  return partitions;
}

}  // namespace

void Outbox::Start(const std::string& node, v1::TaskSpec spec) {
  agents_[node].starts.push_back(std::move(spec));
}

void Outbox::Stop(const std::string& node, v1::AttemptId id, std::string reason) {
  v1::TaskCommand command;
  *command.mutable_stop()->mutable_id() = std::move(id);
  command.mutable_stop()->set_reason(std::move(reason));
  agents_[node].stops.push_back(std::move(command));
}

void Outbox::Acknowledge(const std::string& node, v1::AttemptId id, bool discard) {
  v1::AcknowledgeTasks* message = agents_[node].acknowledge.mutable_acknowledge();
  if (discard) {
    *message->add_discard() = id;
  }
  *message->add_ids() = std::move(id);
}

std::vector<Effect> Outbox::Take() {
  std::vector<Effect> taken = std::exchange(effects_, {});
  for (auto& [node, agent] : std::exchange(agents_, {})) {
    AddStarts(node, std::move(agent.starts), &taken);
    for (v1::TaskCommand& stop : agent.stops) {
      taken.emplace_back(SendToAgent{node, std::move(stop)});
    }
    if (agent.acknowledge.has_acknowledge()) {
      taken.emplace_back(SendToAgent{node, std::move(agent.acknowledge)});
    }
  }
  return taken;
}

void Outbox::AddStarts(const std::string& node, std::vector<v1::TaskSpec> starts,
                       std::vector<Effect>* effects) {
  v1::TaskCommand command;
  int64_t partitions = 0;
  const auto flush = [&] {
    if (command.has_start()) {
      effects->emplace_back(SendToAgent{node, std::exchange(command, {})});
      partitions = 0;
    }
  };
  for (v1::TaskSpec& spec : starts) {
    const int64_t more = PartitionsOf(spec);
    if (command.start().tasks_size() >= kStartBatchMax || partitions + more > kStartPartitionsMax) {
      flush();
    }
    partitions += more;
    *command.mutable_start()->add_tasks() = std::move(spec);
  }
  flush();
}

}  // namespace houtu::jobmanager
