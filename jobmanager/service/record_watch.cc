#include "jobmanager/service/record_watch.h"

#include <optional>
#include <utility>

#include "common/log/log.h"

namespace houtu::jobmanager {
namespace {

using coordination::ChildrenWatch;
using coordination::DataWatch;
using coordination::Node;

// Calls `tell` with each version of a record that is there.
template <typename Record>
std::unique_ptr<DataWatch> WatchRecord(coordination::Coordination* coordination,
                                       const std::string& path, std::function<void(Record)> tell) {
  return std::make_unique<DataWatch>(
      coordination, path, [path, tell = std::move(tell)](const std::optional<Node>& node) {
        Record record;
        if (!node.has_value()) {
          return;
        }
        if (!record.ParseFromString(node->data)) {
          LogError("record can't be read", {{"path", path}});
          return;
        }
        tell(std::move(record));
      });
}

}  // namespace

RecordWatch::RecordWatch(coordination::Coordination* coordination, const RecordPaths& paths,
                         const JobContext& context, Tell tell)
    : coordination_(coordination), paths_(paths), context_(context), tell_(std::move(tell)) {
  const std::string& job = context_.job.id();
  for (int i = 0; i < context_.job.job().stages_size(); ++i) {
    stage_numbers_[context_.job.job().stages(i).name()] = i;
  }
  cancel_ = WatchRecord<v1::CancelRecord>(
      coordination_, paths_.Cancel(job),
      [this](const v1::CancelRecord& record) { tell_(CancelRequested{record.by()}); });
  if (context_.primary() && context_.job.datacenters_size() == 1) {
    return;
  }
  if (!context_.primary()) {
    state_ = WatchRecord<v1::JobStateRecord>(
        coordination_, paths_.State(job),
        [this](v1::JobStateRecord record) { tell_(StateRead{std::move(record)}); });
  }
  stages_ = std::make_unique<ChildrenWatch>(
      coordination_, paths_.Stages(job),
      [this](const std::vector<std::string>& names) { OnStages(names); });
}

void RecordWatch::OnStages(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const auto it = stage_numbers_.find(name);
        it != stage_numbers_.end() && !stage_watches_.contains(it->second)) {
      WatchStage(name);
    }
  }
}

void RecordWatch::WatchStage(const std::string& name) {
  const int stage = stage_numbers_.at(name);
  const std::string path = paths_.Stage(context_.job.id(), name);
  StageWatch& watch = stage_watches_[stage];
  if (!context_.primary()) {
    watch.record = WatchRecord<v1::StageRecord>(
        coordination_, path,
        [this, stage](v1::StageRecord record) { tell_(StageRead{stage, std::move(record)}); });
  }
  watch.chunks = std::make_unique<ChildrenWatch>(
      coordination_, path,
      [this, stage](const std::vector<std::string>& names) { OnChunks(stage, names); });
}

bool RecordWatch::Wanted(const ChunkName& chunk) const {
  const bool own = chunk.datacenter == context_.datacenter;
  return chunk.kind == 'f' ? !own : chunk.kind == 'a' && own && !context_.primary();
}

void RecordWatch::OnChunks(int stage, const std::vector<std::string>& names) {
  StageWatch& watch = stage_watches_[stage];
  for (const std::string& name : names) {
    const std::optional<ChunkName> chunk = ParseChunkName(name);
    if (!chunk.has_value() || !Wanted(*chunk) || watch.chunk_records.contains(name)) {
      continue;
    }
    const std::string path =
        paths_.Stage(context_.job.id(), context_.job.job().stages(stage).name()) + "/" + name;
    watch.chunk_records[name] = std::make_unique<DataWatch>(
        coordination_, path, [this, stage, chunk = *chunk](const std::optional<Node>& node) {
          if (node.has_value()) {
            OnChunk(stage, chunk, node->data);
          }
        });
  }
}

void RecordWatch::OnChunk(int stage, const ChunkName& chunk, const std::string& data) {
  if (chunk.kind == 'a') {
    AssignmentRead read{.stage = stage, .chunk = chunk.number, .record = {}};
    if (read.record.ParseFromString(data)) {
      tell_(std::move(read));
      return;
    }
  } else {
    FinishedRead read{
        .stage = stage, .datacenter = chunk.datacenter, .chunk = chunk.number, .record = {}};
    if (read.record.ParseFromString(data)) {
      tell_(std::move(read));
      return;
    }
  }
  LogError("record can't be read", {{"stage", stage}, {"chunk", chunk.number}});
}

}  // namespace houtu::jobmanager
