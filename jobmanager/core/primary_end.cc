// Primary: how the job ends.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/base/time.h"
#include "jobmanager/core/limits.h"
#include "jobmanager/core/pauses.h"
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
  const bool under_way = !output_.agent.empty() || output_.retry_at != absl::InfiniteFuture();
  if (under_way || StartWritingOutput(now)) {
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

std::vector<std::string> Primary::OutputAgents() const {
  const v1::Output& output = context_.job.job().output();
  std::set<std::string> agents;
  for (int stage = 0; stage < stages_.size(); ++stage) {
    for (int task = 0; task < stages_.at(stage).tasks(); ++task) {
      const FinishedFact* fact = stages_.Finished({stage, task});
      if (fact != nullptr && fact->datacenter == output.datacenter() &&
          (output.node().empty() || output.node() == fact->task.node())) {
        agents.insert(fact->task.agent_address());
      }
    }
  }
  return {agents.begin(), agents.end()};
}

bool Primary::StartWritingOutput(absl::Time now) {
  const v1::Output& output = context_.job.job().output();
  if (output.path().empty()) {
    return false;
  }
  const std::vector<std::string> agents = OutputAgents();
  if (agents.empty()) {
    End(v1::JOB_STATE_FAILED,
        fmt::format("output: no task of the job ran on {} in {}, so nothing can write {} there; "
                    "name a node that holds inputs, or fetch the result",
                    output.node().empty() ? std::string("any node") : "node " + output.node(),
                    output.datacenter(), output.path()),
        now);
    return true;
  }
  auto agent = std::ranges::find_if(
      agents, [&](const std::string& address) { return !output_.unreached.contains(address); });
  if (agent == agents.end()) {
    output_.unreached.clear();
    agent = agents.begin();
  }
  output_.agent = *agent;
  ++output_.tries;
  outbox_.Add(
      WriteOutput{*agent, output.path(), StageSources(stages_, stages_.Find(output.stage()))});
  return true;
}

std::vector<TaskRef> Primary::OutputWritten(const absl::StatusOr<v1::WriteOutputResponse>& response,
                                            absl::Time now) {
  if (output_.agent.empty() || ending()) {
    return {};
  }
  const std::string agent = std::exchange(output_.agent, "");
  if (response.ok() && response->lost().empty()) {
    End(v1::JOB_STATE_SUCCEEDED, "", now);
    return {};
  }
  std::vector<TaskRef> opened;
  absl::Status status = response.status();
  if (response.ok()) {
    opened = Reopen({response->lost().begin(), response->lost().end()}, now);
    status = absl::UnavailableError(response->why());
  } else {
    output_.unreached.insert(agent);
  }
  if (!stages_.at(stages_.Find(context_.job.job().output().stage())).complete()) {
    Unfold(now);  // what was lost of it is made anew
  } else {
    OutputNotWritten(status, now);
  }
  return opened;
}

void Primary::OutputNotWritten(const absl::Status& status, absl::Time now) {
  if (MayComeYet(status) && output_.tries < kOutputTriesMax) {
    output_.retry_at = now + PauseAfter(output_.tries, kOutputPauseFirst, kOutputPauseMax);
    return;
  }
  End(v1::JOB_STATE_FAILED,
      fmt::format("output: {} in {}: {}", context_.job.job().output().path(),
                  context_.job.job().output().datacenter(), Message(status)),
      now);
}

}  // namespace houtu::jobmanager
