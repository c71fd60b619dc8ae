#include "master/service/job_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/resources.h"
#include "common/base/status.h"
#include "common/base/time.h"

namespace houtu::master {
namespace {

/// Where a page of a listing starts: "<stage's place in the job>:<task>:<the task's file>".
struct PageStart {
  int stage = 0;
  int task = 0;
  int file = 0;
};

std::string FormatPage(const PageStart& start) {
  return fmt::format("{}:{}:{}", start.stage, start.task, start.file);
}

absl::StatusOr<PageStart> ParsePage(const std::string& token) {
  PageStart start;
  if (token.empty()) {
    return start;
  }
  const char* next = token.data();
  const char* const end = next + token.size();
  for (int* number : {&start.stage, &start.task, &start.file}) {
    const bool is_last = number == &start.file;
    const auto [stop, error] = std::from_chars(next, end, *number);
    if (error != std::errc() || *number < 0 || (stop == end) != is_last ||
        (!is_last && *stop != ':')) {
      return Error(absl::StatusCode::kInvalidArgument, "page_token \"{}\" is not one of ours",
                   token);
    }
    next = is_last ? end : stop + 1;
  }
  return start;
}

int PageSize(int asked, int fallback, int max) {
  return asked <= 0 ? fallback : std::min(asked, max);
}

std::string DescribeInput(const v1::RawInput& input) {
  std::string out = input.path();
  if (input.has_length_bytes()) {
    out += fmt::format(" [{}, +{})", DescribeBytes(input.offset_bytes()),
                       DescribeBytes(input.length_bytes()));
  }
  return out + " on " + input.node();
}

v1::TaskStatus FinishedStatus(const std::string& stage, const std::string& datacenter,
                              const v1::FinishedTask& task) {
  v1::TaskStatus out;
  out.set_stage(stage);
  out.set_task(task.task());
  out.set_state(v1::TaskStatus::STATE_FINISHED);
  out.set_datacenter(datacenter);
  out.set_node(task.node());
  out.set_attempt(task.attempt());
  *out.mutable_started_at() = ToProto(absl::FromUnixMillis(task.started_at_ms()));
  *out.mutable_ended_at() = ToProto(absl::FromUnixMillis(task.ended_at_ms()));
  int64_t bytes = 0;
  for (const int64_t size_plus_one : task.numbered_size_plus_one()) {
    bytes += std::max<int64_t>(size_plus_one - 1, 0);
  }
  for (const v1::Partition& partition : task.named()) {
    bytes += partition.size_bytes();
  }
  out.set_output_bytes(bytes);
  out.set_memory_peak_bytes(task.memory_peak_bytes());
  out.set_cpu_used_ms(task.cpu_used_ms());
  return out;
}

std::vector<v1::OutputFile> FilesOf(const std::string& stage, const v1::FinishedTask& task) {
  std::vector<v1::OutputFile> files;
  const auto add = [&](const std::string& name, int64_t size) {
    v1::OutputFile& file = files.emplace_back();
    file.set_stage(stage);
    file.set_task(task.task());
    file.set_attempt(task.attempt());
    file.set_name(name);
    file.set_size_bytes(size);
    file.set_node(task.node());
    file.set_agent_address(task.agent_address());
  };
  for (int i = 0; i < task.numbered_size_plus_one_size(); ++i) {
    if (task.numbered_size_plus_one(i) > 0) {
      add(std::to_string(i), task.numbered_size_plus_one(i) - 1);
    }
  }
  for (const v1::Partition& partition : task.named()) {
    add(partition.name(), partition.size_bytes());
  }
  return files;
}

/// The stages whose output is the job's: the one it names, else those that no stage needs.
std::vector<std::string> OutputStages(const v1::Job& job) {
  if (job.has_output()) {
    return {job.output().stage()};
  }
  std::vector<std::string> out;
  for (const v1::Stage& stage : job.stages()) {
    const bool needed = std::any_of(job.stages().begin(), job.stages().end(), [&](const auto& s) {
      return std::any_of(s.needs().begin(), s.needs().end(),
                         [&](const v1::Need& need) { return need.stage() == stage.name(); });
    });
    if (!needed) {
      out.push_back(stage.name());
    }
  }
  return out;
}

bool HasStage(const v1::Job& job, const std::string& name) {
  return std::any_of(job.stages().begin(), job.stages().end(),
                     [&](const v1::Stage& stage) { return stage.name() == name; });
}

}  // namespace

bool HasEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_CANCELLED;
}

v1::JobStatus AssembleStatus(const v1::JobRecord& record, const v1::JobStateRecord& state,
                             const v1::JobStatus* stored, bool cancel_requested,
                             const std::vector<v1::WaitReason>& waits) {
  v1::JobStatus out;
  if (stored != nullptr) {
    out = *stored;
  } else {
    for (const v1::Stage& stage : record.job().stages()) {
      v1::StageStatus* status = out.add_stages();
      status->set_name(stage.name());
      status->set_state(v1::STAGE_STATE_BLOCKED);
      status->set_tasks_total(stage.has_tasks() ? stage.tasks() : -1);
    }
    if (!HasEnded(state.state())) {
      out.mutable_waits()->Assign(waits.begin(), waits.end());
    }
  }
  out.set_id(record.id());
  out.set_name(record.job().name());
  out.set_account(record.job().account());
  out.set_state(state.state());
  if (cancel_requested && !HasEnded(state.state())) {
    out.set_state(v1::JOB_STATE_CANCELLING);
  }
  if (!state.message().empty()) {
    out.set_message(state.message());
  }
  *out.mutable_submitted_at() = record.submitted_at();
  if (state.has_started_at()) {
    *out.mutable_started_at() = state.started_at();
  }
  if (state.has_ended_at()) {
    *out.mutable_ended_at() = state.ended_at();
  }
  *out.mutable_datacenters() = record.datacenters();
  if (out.primary_datacenter().empty()) {
    out.set_primary_datacenter(record.primary_datacenter());
  }
  return out;
}

template <typename Message>
absl::StatusOr<std::optional<Message>> JobReader::Read(const std::string& path) const {
  const absl::StatusOr<coordination::Node> node = store_.Get(path);
  if (absl::IsNotFound(node.status())) {
    return std::optional<Message>();
  }
  HOUTU_RETURN_IF_ERROR(node.status());
  Message message;
  if (!message.ParseFromString(node->data)) {
    return Error(absl::StatusCode::kInternal, "the record {} is damaged", path);
  }
  return std::optional<Message>(std::move(message));
}

absl::StatusOr<v1::JobRecord> JobReader::Record(const std::string& job) const {
  HOUTU_ASSIGN_OR_RETURN(std::optional<v1::JobRecord> record, Read<v1::JobRecord>(paths_.Job(job)));
  if (!record.has_value()) {
    return Error(absl::StatusCode::kNotFound, "no job {} any more", job);
  }
  return *std::move(record);
}

absl::StatusOr<v1::JobStatus> JobReader::Status(const v1::JobRecord& record,
                                                const std::vector<v1::WaitReason>& waits) const {
  // The state is read before the status: a status that is newer never goes with an older end.
  HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::JobStateRecord> state,
                         Read<v1::JobStateRecord>(paths_.State(record.id())));
  HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::JobStatus> stored,
                         Read<v1::JobStatus>(paths_.Status(record.id())));
  HOUTU_ASSIGN_OR_RETURN(const bool cancel, CancelRequested(record.id()));
  return AssembleStatus(record, state.value_or(v1::JobStateRecord()),
                        stored.has_value() ? &*stored : nullptr, cancel, waits);
}

absl::StatusOr<bool> JobReader::CancelRequested(const std::string& job) const {
  HOUTU_ASSIGN_OR_RETURN(const std::optional<coordination::Stat> stat,
                         store_.Exists(paths_.Cancel(job)));
  return stat.has_value();
}

absl::StatusOr<ActiveJob> JobReader::Active(const std::string& job,
                                            const std::string& datacenter) const {
  ActiveJob out;
  HOUTU_ASSIGN_OR_RETURN(out.record, Record(job));
  HOUTU_ASSIGN_OR_RETURN(const std::optional<coordination::Stat> active,
                         store_.Exists(paths_.Active(job)));
  if (!active.has_value()) {
    return Error(absl::StatusCode::kNotFound, "job {} has ended", job);
  }
  HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::AccountRecord> account,
                         Read<v1::AccountRecord>(paths_.Account(out.record.job().account())));
  out.account_number = account.value_or(v1::AccountRecord()).number();
  HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::ManagerRecord> manager,
                         Read<v1::ManagerRecord>(paths_.Manager(job, datacenter)));
  out.manager_known = manager.has_value();
  out.manager_node = manager.value_or(v1::ManagerRecord()).node();
  return out;
}

absl::StatusOr<JobReader::Chunk> JobReader::ReadChunk(const v1::JobRecord& record,
                                                      const std::string& stage, int chunk) const {
  Chunk out;
  for (const std::string& dc : record.datacenters()) {
    HOUTU_ASSIGN_OR_RETURN(
        const std::optional<v1::AssignmentRecord> assigned,
        Read<v1::AssignmentRecord>(paths_.Assignment(record.id(), stage, dc, chunk)));
    if (assigned) {
      for (const v1::AssignedTask& task : assigned->tasks()) {
        out.assigned[task.task()] = {dc, task};
      }
    }
    HOUTU_ASSIGN_OR_RETURN(
        const std::optional<v1::FinishedRecord> finished,
        Read<v1::FinishedRecord>(paths_.Finished(record.id(), stage, dc, chunk)));
    if (finished) {
      for (const v1::FinishedTask& task : finished->tasks()) {
        out.finished.emplace(task.task(), std::pair(dc, task));
      }
    }
  }
  return out;
}

absl::StatusOr<v1::ListTasksResponse> JobReader::Tasks(const v1::JobRecord& record,
                                                       const v1::ListTasksRequest& request) const {
  if (!request.stage().empty() && !HasStage(record.job(), request.stage())) {
    return Error(absl::StatusCode::kNotFound, "job {} has no stage \"{}\"", record.id(),
                 request.stage());
  }
  HOUTU_ASSIGN_OR_RETURN(const PageStart start, ParsePage(request.page_token()));
  const int limit = PageSize(request.page_size(), kTasksPageDefault, kTasksPageMax);
  HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::RunningRecord> running_record,
                         Read<v1::RunningRecord>(paths_.Running(record.id())));
  std::map<std::pair<std::string, int>, v1::TaskStatus> running;
  if (running_record) {
    for (const v1::TaskStatus& task : running_record->tasks()) {
      running[{task.stage(), task.task()}] = task;
    }
  }
  v1::ListTasksResponse response;
  size_t bytes = 0;
  for (int s = start.stage; s < record.job().stages_size(); ++s) {
    const std::string& stage = record.job().stages(s).name();
    if (!request.stage().empty() && stage != request.stage()) {
      continue;
    }
    HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::StageRecord> stage_record,
                           Read<v1::StageRecord>(paths_.Stage(record.id(), stage)));
    if (!stage_record.has_value() || stage_record->tasks_per_chunk() <= 0) {
      continue;
    }
    int loaded = -1;
    Chunk chunk;
    for (int t = s == start.stage ? start.task : 0; t < stage_record->tasks(); ++t) {
      if (response.tasks_size() == limit || bytes >= kPageBytesMax) {
        response.set_next_page_token(FormatPage({.stage = s, .task = t}));
        return response;
      }
      if (t / stage_record->tasks_per_chunk() != loaded) {
        loaded = t / stage_record->tasks_per_chunk();
        HOUTU_ASSIGN_OR_RETURN(chunk, ReadChunk(record, stage, loaded));
      }
      v1::TaskStatus* task = response.add_tasks();
      if (const auto done = chunk.finished.find(t); done != chunk.finished.end()) {
        *task = FinishedStatus(stage, done->second.first, done->second.second);
      } else if (const auto now = running.find({stage, t}); now != running.end()) {
        *task = now->second;
      } else {
        task->set_stage(stage);
        task->set_task(t);
        task->set_state(v1::TaskStatus::STATE_WAITING);
      }
      if (const auto assigned = chunk.assigned.find(t); assigned != chunk.assigned.end()) {
        if (task->datacenter().empty()) {
          task->set_datacenter(assigned->second.first);
        }
        if (assigned->second.second.has_input()) {
          task->set_input(DescribeInput(assigned->second.second.input()));
        }
      }
      bytes += task->ByteSizeLong();
    }
  }
  return response;
}

absl::StatusOr<v1::ListOutputsResponse> JobReader::Outputs(
    const v1::JobRecord& record, const v1::ListOutputsRequest& request) const {
  if (!request.stage().empty() && !HasStage(record.job(), request.stage())) {
    return Error(absl::StatusCode::kNotFound, "job {} has no stage \"{}\"", record.id(),
                 request.stage());
  }
  const std::vector<std::string> stages = request.stage().empty()
                                              ? OutputStages(record.job())
                                              : std::vector<std::string>{request.stage()};
  HOUTU_ASSIGN_OR_RETURN(const PageStart start, ParsePage(request.page_token()));
  const int limit = PageSize(request.page_size(), kTasksPageDefault, kTasksPageMax);
  v1::ListOutputsResponse response;
  response.set_job_id(record.id());
  size_t bytes = 0;
  const auto full = [&] { return response.files_size() == limit || bytes >= kPageBytesMax; };
  for (int s = start.stage; s < static_cast<int>(stages.size()); ++s) {
    const std::string& stage = stages[static_cast<size_t>(s)];
    HOUTU_ASSIGN_OR_RETURN(const std::optional<v1::StageRecord> stage_record,
                           Read<v1::StageRecord>(paths_.Stage(record.id(), stage)));
    if (!stage_record.has_value() || stage_record->state() != v1::STAGE_STATE_SUCCEEDED) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "stage {} of job {} is not finished: it has no outputs yet", stage, record.id());
    }
    int loaded = -1;
    Chunk chunk;
    for (int t = s == start.stage ? start.task : 0; t < stage_record->tasks(); ++t) {
      if (t / stage_record->tasks_per_chunk() != loaded) {
        loaded = t / stage_record->tasks_per_chunk();
        HOUTU_ASSIGN_OR_RETURN(chunk, ReadChunk(record, stage, loaded));
      }
      const auto done = chunk.finished.find(t);
      if (done == chunk.finished.end()) {
        continue;
      }
      const std::vector<v1::OutputFile> files = FilesOf(stage, done->second.second);
      const bool is_first = s == start.stage && t == start.task;
      for (int f = is_first ? start.file : 0; f < static_cast<int>(files.size()); ++f) {
        if (full()) {
          response.set_next_page_token(FormatPage({.stage = s, .task = t, .file = f}));
          return response;
        }
        v1::OutputFile* file = response.add_files();
        *file = files[static_cast<size_t>(f)];
        bytes += file->ByteSizeLong();
      }
    }
  }
  return response;
}

absl::StatusOr<std::vector<v1::JobEvent>> JobReader::Events(const v1::JobRecord& record) const {
  std::vector<v1::JobEvent> out;
  v1::JobEvent& submitted = out.emplace_back();
  *submitted.mutable_at() = record.submitted_at();
  submitted.set_kind(v1::JobEvent::KIND_SUBMITTED);
  submitted.set_datacenter(record.primary_datacenter());
  submitted.set_task(-1);
  submitted.set_message("submitted by account " + record.job().account());
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         store_.GetChildren(paths_.Job(record.id())));
  for (const std::string& name : names) {
    const std::optional<ChunkName> chunk = ParseChunkName(name);
    if (!chunk.has_value() || chunk->kind != 'e') {
      continue;
    }
    HOUTU_ASSIGN_OR_RETURN(
        const std::optional<v1::EventsRecord> events,
        Read<v1::EventsRecord>(paths_.Events(record.id(), chunk->datacenter, chunk->number)));
    if (events) {
      out.insert(out.end(), events->events().begin(), events->events().end());
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const v1::JobEvent& a, const v1::JobEvent& b) {
    return FromProto(a.at()) < FromProto(b.at());
  });
  return out;
}

}  // namespace houtu::master
