#include "jobmanager/service/record_writer.h"

#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/log/log.h"

namespace houtu::jobmanager {

RecordWriter::RecordWriter(coordination::Coordination* coordination, const RecordPaths& paths,
                           const JobContext& context, const Recovered& recovered,
                           Callbacks callbacks)
    : coordination_(coordination),
      paths_(paths),
      context_(context),
      callbacks_(std::move(callbacks)),
      look_first_(context.term > 1),
      session_(coordination->OnSessionState([this](coordination::SessionState state) {
        if (state == coordination::SessionState::kConnected && std::exchange(waiting_, false)) {
          LookAndSend(0);
        }
      })) {
  if (recovered.state.state() != v1::JOB_STATE_UNSPECIFIED) {
    existing_.insert(PathOf(RecordKey::State()));
  }
  for (const auto& stage : recovered.stages) {
    existing_.insert(PathOf(RecordKey::Stage(stage.stage)));
  }
  for (const auto& chunk : recovered.assignments) {
    existing_.insert(PathOf(RecordKey::Assignment(chunk.stage, chunk.datacenter, chunk.chunk)));
  }
  for (const auto& chunk : recovered.finished) {
    if (chunk.datacenter == context_.datacenter) {
      existing_.insert(PathOf(RecordKey::Finished(chunk.stage, chunk.chunk)));
    }
  }
  for (const auto& [number, record] : recovered.events) {
    existing_.insert(PathOf(RecordKey::Events(number)));
  }
}

std::string RecordWriter::PathOf(const RecordKey& key) const {
  const std::string& job = context_.job.id();
  const std::string stage = key.stage < 0 ? "" : context_.job.job().stages(key.stage).name();
  switch (key.kind) {
    case RecordKey::Kind::kState:
      return paths_.State(job);
    case RecordKey::Kind::kStatus:
      return paths_.Status(job);
    case RecordKey::Kind::kRunning:
      return paths_.Running(job);
    case RecordKey::Kind::kStage:
      return paths_.Stage(job, stage);
    case RecordKey::Kind::kAssignment:
      return paths_.Assignment(job, stage, key.datacenter, key.chunk);
    case RecordKey::Kind::kFinished:
      return paths_.Finished(job, stage, context_.datacenter, key.chunk);
    case RecordKey::Kind::kEvents:
      return paths_.Events(job, context_.datacenter, key.chunk);
  }
  HOUTU_UNREACHABLE("every kind of record has a path");
}

void RecordWriter::Write(WriteRecords batch) {
  HOUTU_CHECK(!batch_.has_value(), "one multi is under way at a time");
  batch_ = std::move(batch);
  if (std::exchange(look_first_, false)) {
    LookAndSend(0);  // Recovered does not tell of all records
  } else {
    Send();
  }
}

void RecordWriter::Send() {
  std::vector<coordination::Op> ops;
  ops.emplace_back(coordination::CheckOp{paths_.Manager(context_.job.id(), context_.datacenter),
                                         static_cast<int32_t>(context_.term - 1)});
  for (const WriteRecords::Write& write : batch_->writes) {
    const std::string path = PathOf(write.key);
    if (existing_.contains(path)) {
      ops.emplace_back(coordination::SetOp{path, write.data, coordination::kAnyVersion});
    } else {
      ops.emplace_back(coordination::CreateOp{path, write.data, {}});
    }
  }
  if (batch_->ends_job) {
    ops.emplace_back(coordination::DeleteOp{.path = paths_.Active(context_.job.id())});
  }
  coordination_->Multi(std::move(ops), lifeline_.Guard([this](coordination::MultiResult result) {
    OnResult(result);
  }));
}

void RecordWriter::OnResult(const coordination::MultiResult& result) {
  if (result.status.ok()) {
    for (const WriteRecords::Write& write : batch_->writes) {
      existing_.insert(PathOf(write.key));
    }
    unsure_ = false;
    const int64_t batch = std::exchange(batch_, std::nullopt)->batch;
    callbacks_.on_written(batch);
    return;
  }
  LogWarning("records not written", {{"status", result.status}, {"op", result.failed_op}});
  const absl::StatusCode code = result.status.code();
  if (code == absl::StatusCode::kNotFound && batch_->ends_job && unsure_) {
    // The multi whose answer was lost did it: the job is no longer active.
    callbacks_.on_written(std::exchange(batch_, std::nullopt)->batch);
    return;
  }
  if (code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDeadlineExceeded) {
    unsure_ = true;
    waiting_ = coordination_->state() != coordination::SessionState::kConnected;
    if (!waiting_) {
      LookAndSend(0);
    }
  } else if (code == absl::StatusCode::kAlreadyExists && !unsure_) {
    unsure_ = true;  // the master records a job's state too
    LookAndSend(0);
  } else {
    callbacks_.on_lost(result.status);
  }
}

void RecordWriter::LookAndSend(size_t next) {
  while (next < batch_->writes.size() && existing_.contains(PathOf(batch_->writes[next].key))) {
    ++next;
  }
  if (next == batch_->writes.size()) {
    Send();
    return;
  }
  const std::string path = PathOf(batch_->writes[next].key);
  coordination_->Exists(
      path,
      lifeline_.Guard([this, next, path](absl::StatusOr<std::optional<coordination::Stat>> stat) {
        if (!stat.ok()) {
          if (absl::IsUnavailable(stat.status())) {
            waiting_ = coordination_->state() != coordination::SessionState::kConnected;
            if (!waiting_) {
              LookAndSend(next);
            }
          } else {
            callbacks_.on_lost(stat.status());
          }
          return;
        }
        if (stat->has_value()) {
          existing_.insert(path);
        }
        LookAndSend(next + 1);
      }));
}

}  // namespace houtu::jobmanager
