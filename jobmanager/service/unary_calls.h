// UnaryCalls: what a manager asks of masters and agents once: the files of raw inputs, the writing
// of the job's result.
#pragma once

#include <functional>
#include <string>

#include "common/coordination/coordination.h"
#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "jobmanager/core/effect.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/job_context.h"

namespace houtu {
class ChannelPool;
}

namespace houtu::jobmanager {

/// Owner: the shell. Thread: the loop's. Each call ends in one event. UNAVAILABLE: no master leads
/// the datacenter, or it can't be reached: ask again.
class UnaryCalls {
 public:
  struct Options {
    EventLoop* loop = nullptr;
    coordination::Coordination* coordination = nullptr;
    ChannelPool* channels = nullptr;
    RecordPaths paths;
    const JobContext* context = nullptr;
    std::string token;
  };
  UnaryCalls(Options options, std::function<void(Event)> tell)
      : options_(std::move(options)), tell_(std::move(tell)) {}

  void List(const ListInputs& effect);
  void Write(const WriteOutput& effect);

 private:
  void ListAt(const std::string& address, const ListInputs& effect);

  const Options options_;
  const std::function<void(Event)> tell_;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::jobmanager
