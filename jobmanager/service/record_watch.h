// RecordWatch: tells the core what others write of the job: a cancel, stages, assignments, finished
// tasks of other datacenters.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/coordination/coordination.h"
#include "common/coordination/watch.h"
#include "common/records/paths.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/job_context.h"

namespace houtu::jobmanager {

/// Owner: the shell. Thread: the loop's. A primary that is alone in its job watches only for the
/// cancel; one with others also their finished records; the others watch all that the primary
/// writes, and one another's finished records.
class RecordWatch {
 public:
  using Tell = std::function<void(Event)>;

  RecordWatch(coordination::Coordination* coordination, const RecordPaths& paths,
              const JobContext& context, Tell tell);

 private:
  struct StageWatch {
    std::unique_ptr<coordination::DataWatch> record;
    std::unique_ptr<coordination::ChildrenWatch> chunks;
    std::map<std::string, std::unique_ptr<coordination::DataWatch>> chunk_records;
  };

  void OnStages(const std::vector<std::string>& names);
  void WatchStage(const std::string& name);
  void OnChunks(int stage, const std::vector<std::string>& names);
  bool Wanted(const ChunkName& chunk) const;
  void OnChunk(int stage, const ChunkName& chunk, const std::string& data);

  coordination::Coordination* const coordination_;
  const RecordPaths paths_;
  const JobContext& context_;
  const Tell tell_;
  std::map<std::string, int> stage_numbers_;
  std::unique_ptr<coordination::DataWatch> cancel_;
  std::unique_ptr<coordination::DataWatch> state_;
  std::unique_ptr<coordination::ChildrenWatch> stages_;
  std::map<int, StageWatch> stage_watches_;
};

}  // namespace houtu::jobmanager
