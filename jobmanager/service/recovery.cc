#include "jobmanager/service/recovery.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/service/roles.h"

namespace houtu::jobmanager {
namespace {

using Store = coordination::BlockingCoordination;

/// Empty: there is no such record.
template <typename Record>
absl::StatusOr<std::optional<Record>> Read(const Store& store, const std::string& path) {
  const auto node = store.Get(path);
  if (absl::IsNotFound(node.status())) {
    return std::optional<Record>();
  }
  HOUTU_RETURN_IF_ERROR(node.status());
  Record record;
  if (!record.ParseFromString(node->data)) {
    return Error(absl::StatusCode::kInternal, "the record {} can't be read", path);
  }
  return std::optional<Record>(std::move(record));
}

absl::StatusOr<std::vector<std::string>> Names(const Store& store, const std::string& path) {
  auto names = store.GetChildren(path);
  if (absl::IsNotFound(names.status())) {
    return std::vector<std::string>();
  }
  return names;
}

absl::Status ReadChunk(const Store& store, const std::string& path, const ChunkName& name,
                       int stage, Recovered* recovered) {
  if (name.kind == 'a') {
    HOUTU_ASSIGN_OR_RETURN(auto record, Read<v1::AssignmentRecord>(store, path));
    recovered->assignments.push_back(
        {stage, name.datacenter, name.number, record.value_or(v1::AssignmentRecord())});
  } else if (name.kind == 'f') {
    HOUTU_ASSIGN_OR_RETURN(auto record, Read<v1::FinishedRecord>(store, path));
    recovered->finished.push_back(
        {stage, name.datacenter, name.number, record.value_or(v1::FinishedRecord())});
  }
  return absl::OkStatus();
}

absl::Status ReadStage(const Store& store, const std::string& path, int stage,
                       Recovered* recovered) {
  HOUTU_ASSIGN_OR_RETURN(auto record, Read<v1::StageRecord>(store, path));
  if (!record.has_value()) {
    return absl::OkStatus();
  }
  recovered->stages.push_back({stage, *std::move(record)});
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(store, path));
  for (const std::string& name : names) {
    if (const auto chunk = ParseChunkName(name); chunk.has_value()) {
      HOUTU_RETURN_IF_ERROR(ReadChunk(store, path + "/" + name, *chunk, stage, recovered));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadEvents(const Store& store, const RecordPaths& paths, const std::string& job,
                        const std::string& datacenter, Recovered* recovered) {
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(store, paths.Job(job)));
  for (const std::string& name : names) {
    const auto chunk = ParseChunkName(name);
    if (chunk.has_value() && chunk->kind == 'e' && chunk->datacenter == datacenter) {
      HOUTU_ASSIGN_OR_RETURN(
          auto record, Read<v1::EventsRecord>(store, paths.Events(job, datacenter, chunk->number)));
      recovered->events.emplace_back(chunk->number, record.value_or(v1::EventsRecord()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::JobRecord> ReadJob(const Store& store, const RecordPaths& paths,
                                      const std::string& job) {
  HOUTU_ASSIGN_OR_RETURN(auto record, Read<v1::JobRecord>(store, paths.Job(job)));
  if (!record.has_value()) {
    return Error(absl::StatusCode::kNotFound, "no job {}", job);
  }
  return *std::move(record);
}

absl::StatusOr<int64_t> TakeTerm(const Store& store, const RecordPaths& paths,
                                 const v1::JobManagerConfig& config, ManagerPorts ports,
                                 absl::Time now) {
  v1::ManagerRecord record;
  record.set_address(fmt::format("{}:{}", config.host(), ports.grpc));
  record.set_http_address(fmt::format("{}:{}", config.host(), ports.http));
  record.set_node(config.node());
  record.set_lease_id(config.lease_id());
  *record.mutable_started_at() = ToProto(now);
  const std::string path = paths.Manager(config.job(), config.datacenter());
  HOUTU_RETURN_IF_ERROR(store.EnsurePath(paths.Managers(config.job())));
  const auto created = store.Create(path, record.SerializeAsString());
  if (created.ok()) {
    return 1;
  }
  // Also where a creation's answer was lost: the next version is a term of its own.
  if (!absl::IsAlreadyExists(created.status()) && !absl::IsDeadlineExceeded(created.status())) {
    return created.status();
  }
  HOUTU_ASSIGN_OR_RETURN(const coordination::Stat stat,
                         store.Set(path, record.SerializeAsString()));
  return int64_t{stat.version} + 1;
}

absl::StatusOr<Recovered> ReadRecords(const Store& store, const RecordPaths& paths,
                                      const v1::JobRecord& job, const std::string& datacenter) {
  Recovered recovered;
  if (PrimaryDatacenter(job) == datacenter) {
    HOUTU_RETURN_IF_ERROR(store.EnsurePath(paths.Stages(job.id())));
  }
  HOUTU_ASSIGN_OR_RETURN(auto state, Read<v1::JobStateRecord>(store, paths.State(job.id())));
  recovered.state = state.value_or(v1::JobStateRecord());
  HOUTU_ASSIGN_OR_RETURN(const auto cancel, store.Exists(paths.Cancel(job.id())));
  recovered.cancel_requested = cancel.has_value();
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> released,
                         Names(store, paths.Stages(job.id())));
  for (int stage = 0; stage < job.job().stages_size(); ++stage) {
    const std::string& name = job.job().stages(stage).name();
    if (std::ranges::find(released, name) != released.end()) {
      HOUTU_RETURN_IF_ERROR(ReadStage(store, paths.Stage(job.id(), name), stage, &recovered));
    }
  }
  HOUTU_RETURN_IF_ERROR(ReadEvents(store, paths, job.id(), datacenter, &recovered));
  return recovered;
}

}  // namespace houtu::jobmanager
