// Outbox: effects gathered during one step; commands to one agent become few messages.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "houtu/v1/task.pb.h"
#include "jobmanager/core/effect.h"

namespace houtu::jobmanager {

/// Owner: JobManagerCore. Not thread-safe.
class Outbox {
 public:
  void Start(const std::string& node, v1::TaskSpec spec);
  void Stop(const std::string& node, v1::AttemptId id, std::string reason);
  /// The agent may forget the attempt; with `discard` its outputs are not wanted.
  void Acknowledge(const std::string& node, v1::AttemptId id, bool discard);
  void Add(Effect effect) { effects_.push_back(std::move(effect)); }

  /// Everything since the last call: first the effects added one by one, then what agents are told.
  std::vector<Effect> Take();

 private:
  struct ForAgent {
    std::vector<v1::TaskSpec> starts;
    std::vector<v1::TaskCommand> stops;
    v1::TaskCommand acknowledge;
  };
  static void AddStarts(const std::string& node, std::vector<v1::TaskSpec> starts,
                        std::vector<Effect>* effects);

  std::vector<Effect> effects_;
  std::map<std::string, ForAgent> agents_;
};

}  // namespace houtu::jobmanager
