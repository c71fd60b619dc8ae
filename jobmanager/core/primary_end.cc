// Primary: how the job ends.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/primary.h"
#include "jobmanager/core/task_spec.h"

namespace houtu::jobmanager {
namespace {

const char* Words(v1::JobState state) {
  if (state == v1::JOB_STATE_SUCCEEDED) {
    return "the job succeeded";
  }
  return state == v1::JOB_STATE_CANCELLED ? "the job was cancelled" : "the job failed";
}

}  // namespace

absl::Duration Primary::LongestGrace() const {
  absl::Duration longest = absl::Seconds(5);
  for (const v1::Stage& stage : context_.job.job().stages()) {
    longest = std::max(longest, FromProto(stage.grace()));
  }
  return longest;
}

void Primary::End(v1::JobState state, std::string message, absl::Time now) {
  if (ending()) {
    return;
  }
  ending_ = Ending{
      .state = state, .message = std::move(message), .deadline = now + LongestGrace() + kStopSlack};
  state_.set_message(ending_->message);
  if (state == v1::JOB_STATE_CANCELLED) {
    state_.set_state(v1::JOB_STATE_CANCELLING);
    recorder_.Mark(RecordKey::State());
    Tell(v1::JobEvent::KIND_CANCEL_REQUESTED, -1, ending_->message, now);
  }
}

void Primary::FinishJob(absl::Time now) {
  if (writing_output_ || StartWritingOutput(now)) {
    return;
  }
  End(v1::JOB_STATE_SUCCEEDED, "", now);
}

void Primary::TryEnd(int tasks_started, absl::Time now) {
  if (!ending() || ending_->marked || (tasks_started > 0 && now < ending_->deadline)) {
    return;
  }
  ending_->marked = true;
  const v1::StageState left_over = ending_->state == v1::JOB_STATE_CANCELLED
                                       ? v1::STAGE_STATE_CANCELLED
                                       : v1::STAGE_STATE_FAILED;
  for (int stage = 0; stage < stages_.size(); ++stage) {
    v1::StageRecord record = stages_.at(stage).record;
    if (record.state() == v1::STAGE_STATE_RUNNING) {
      record.set_state(left_over);
      *record.mutable_ended_at() = ToProto(now);
      stages_.SetRecord(stage, record);
      MarkStage(stage);
    }
  }
  state_.set_state(ending_->state);
  *state_.mutable_ended_at() = ToProto(now);
  Tell(v1::JobEvent::KIND_ENDED, -1,
       ending_->message.empty() ? Words(ending_->state) : ending_->message, now);
  // The last status stands before the state that tells everybody to stop looking.
  recorder_.Mark(RecordKey::Running());
  recorder_.Mark(RecordKey::Status());
  recorder_.MarkThen(RecordKey::State(), JobEndRecorded{});
}

// ---- Writing the result to the path that the job names ---------------------------------------

bool Primary::StartWritingOutput(absl::Time now) {
  const v1::Output& output = context_.job.job().output();
  if (output.path().empty()) {
    return false;
  }
  std::string address;
  for (int stage = 0; stage < stages_.size() && address.empty(); ++stage) {
    for (int task = 0; task < stages_.at(stage).tasks() && address.empty(); ++task) {
      const FinishedFact* fact = stages_.Finished({stage, task});
      if (fact != nullptr && fact->datacenter == output.datacenter() &&
          (output.node().empty() || output.node() == fact->task.node())) {
        address = fact->task.agent_address();
      }
    }
  }
  if (address.empty()) {
    End(v1::JOB_STATE_FAILED,
        fmt::format("output: no task of the job ran on {} in {}, so nothing can write {} there; "
                    "name a node that holds inputs, or fetch the result",
                    output.node().empty() ? std::string("any node") : "node " + output.node(),
                    output.datacenter(), output.path()),
        now);
    return true;
  }
  writing_output_ = true;
  outbox_.Add(
      WriteOutput{address, output.path(), StageSources(stages_, stages_.Find(output.stage()))});
  return true;
}

void Primary::OutputWritten(const absl::Status& status, absl::Time now) {
  if (!writing_output_ || ending()) {
    return;
  }
  writing_output_ = false;
  const bool complete = stages_.at(stages_.Find(context_.job.job().output().stage())).complete();
  if (status.ok()) {
    End(v1::JOB_STATE_SUCCEEDED, "", now);
  } else if (!complete) {
    Unfold(now);  // part of it was lost meanwhile and is made anew
  } else {
    End(v1::JOB_STATE_FAILED,
        fmt::format("output: {} in {}: {}", context_.job.job().output().path(),
                    context_.job.job().output().datacenter(), Message(status)),
        now);
  }
}

}  // namespace houtu::jobmanager
