// AgentShell: how each effect is carried out.
#include <utility>

#include "agent/service/agent_shell.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {

void AgentShell::Perform(RecordTerms effect) {
  // At once: the command that it guards is carried out by the next effects. Once per election.
  if (absl::Status status = parts_.records->WriteTerms(effect.terms); !status.ok()) {
    LogWarning("terms not recorded", {{"error", status}});
  }
}

void AgentShell::Perform(RecordLease effect) {
  const std::string id = effect.start.lease().id();
  strands_.Submit(id, [this, effect = std::move(effect)] { Post(containers_.Record(effect)); });
}

void AgentShell::Perform(StartContainer effect) {
  const std::string id = effect.start.lease().id();
  strands_.Submit(id, [this, effect = std::move(effect)] {
    ContainerStarted started = containers_.Start(effect);
    parts_.metrics->CountContainerStart(started.status.ok());
    Post(std::move(started));
  });
}

void AgentShell::Perform(DestroyContainer effect) {
  const std::string id = effect.lease_id;
  strands_.Submit(id, [this, effect = std::move(effect)] { Post(containers_.Destroy(effect)); });
}

void AgentShell::Perform(RecordLeaseEnd effect) {
  const std::string id = effect.report.lease().id();
  strands_.Submit(id, [this, effect = std::move(effect)] {
    LogInfo("lease ended", {{"lease", effect.report.lease().id()},
                            {"reason", v1::LeaseEndReason_Name(effect.report.end_reason())},
                            {"message", effect.report.message()}});
    if (absl::Status status = parts_.records->WriteLeaseEnd(effect.report); !status.ok()) {
      LogWarning("lease's end not recorded", {{"error", status}});
    }
    Post(LeaseEndRecorded{effect.report.lease().id()});
  });
}

void AgentShell::Perform(ForgetLease effect) {
  const std::string id = effect.lease_id;
  strands_.Submit(id, [this, id] { containers_.Forget(id); });
}

void AgentShell::Perform(LaunchTask effect) {
  const std::string id = effect.spec.lease_id();
  if (!parts_.inputs->NeedsNetwork(effect.spec)) {
    strands_.Submit(
        id, [this, effect = std::move(effect)] { StartPrepared(effect, tasks_.Prepare(effect)); });
    return;
  }
  // What waits for another node must not keep the lease's other tasks from starting and ending.
  transfers_.Submit([this, id, effect = std::move(effect)] {
    PreparedTask prepared = tasks_.Prepare(effect);
    strands_.Submit(
        id, [this, effect, prepared = std::move(prepared)] { StartPrepared(effect, prepared); });
  });
}

void AgentShell::StartPrepared(const LaunchTask& task, PreparedTask prepared) {
  TaskLaunched launched = tasks_.Start(task, std::move(prepared));
  parts_.metrics->CountInput(launched.result);
  if (launched.result.kind != LaunchResult::Kind::kStarted) {
    LogWarning("task not started", {{"job", launched.key.job},
                                    {"task", Describe(launched.key)},
                                    {"lease", launched.lease_id},
                                    {"error", launched.result.message}});
  }
  Post(std::move(launched));
}

void AgentShell::Perform(StopProgram effect) {
  const std::string id = effect.lease_id;
  strands_.Submit(id, [this, effect = std::move(effect)] {
    const absl::Status status =
        parts_.runtime->StopTask(parts_.paths->lease(effect.lease_id), effect.key, effect.grace);
    if (!status.ok() && !absl::IsNotFound(status)) {  // NOT_FOUND: its exit is on the way
      LogWarning("task not stopped", {{"task", Describe(effect.key)}, {"error", status}});
    }
  });
}

void AgentShell::Perform(FinishTask effect) {
  const std::string id = effect.lease_id;
  strands_.Submit(id, [this, effect = std::move(effect)] {
    const TaskUsage usage = tasks_.Reap(effect);
    if (tasks_.CommitsFast(effect)) {
      FinishReaped(effect, usage);
    } else {
      transfers_.Submit([this, effect, usage] { FinishReaped(effect, usage); });
    }
  });
}

void AgentShell::FinishReaped(const FinishTask& task, const TaskUsage& usage) {
  TaskFinished done = tasks_.Finish(task, usage);
  parts_.metrics->CountEnd(done.report.end_reason());
  Post(std::move(done));
  tasks_.CleanUp(task);  // the report need not wait for it
}

void AgentShell::Perform(ForgetAttempts effect) {
  const std::string id = effect.lease_id;
  strands_.Submit(id, [this, effect = std::move(effect)] {
    for (const AttemptKey& key : effect.keys) {
      parts_.records->RemoveAttempt(effect.lease_id, key);
    }
  });
}

void AgentShell::Perform(DiscardOutputs effect) {
  transfers_.Submit([this, effect = std::move(effect)] {
    for (const AttemptKey& key : effect.keys) {
      if (absl::Status status = parts_.store->Discard(key); !status.ok()) {
        LogWarning("outputs not deleted", {{"task", Describe(key)}, {"error", status}});
      }
    }
  });
}

void AgentShell::Perform(ForgetJobData effect) {
  transfers_.Submit([this, effect = std::move(effect)] {
    for (const std::string& job : effect.jobs) {
      if (!parts_.jobs->Find(job)) {
        continue;  // nothing of it was ever here
      }
      if (absl::Status status = parts_.jobs->MarkEnded(job); !status.ok()) {
        LogWarning("job's end not recorded", {{"job", job}, {"error", status}});
      }
    }
  });
}

void AgentShell::Perform(SendToMaster effect) { master_->Send(std::move(effect.message)); }

void AgentShell::Perform(ReconnectMaster effect) { master_->Reconnect(effect.reason); }

void AgentShell::Perform(ListInputFiles effect) {
  transfers_.Submit([this, effect = std::move(effect)] {
    v1::AgentMessage message;
    v1::FilesListed& listed = *message.mutable_files();
    listed.set_request_id(effect.request.request_id());
    for (const v1::Input& input : effect.request.inputs()) {
      if (input.node().empty() && !parts_.roots->Covers(input.path())) {
        listed.add_inputs();  // asked of every node: another one may hold it
        continue;
      }
      absl::StatusOr<v1::InputFiles> files = parts_.roots->List(input.path());
      if (!files.ok()) {
        listed.clear_inputs();
        listed.set_error(Message(files.status()));
        break;
      }
      for (v1::InputFile& file : *files->mutable_files()) {
        file.set_node(parts_.config->node());
        file.set_agent_address(parts_.config->address());
      }
      *listed.add_inputs() = std::move(*files);
    }
    parts_.loop->Post([this, message = std::move(message)] { master_->Send(message); });
  });
}

void AgentShell::Perform(SendTaskReport effect) {
  *reports_[effect.session].add_reports() = std::move(effect.report);
}

void AgentShell::Perform(SendToManager effect) {
  // Reports made before this message must not overtake nor follow it.
  FlushReports();
  managers_->Send(effect.session, std::move(effect.message));
}

void AgentShell::Perform(CloseSession effect) { managers_->Close(effect.session, effect.status); }

void AgentShell::Perform(ProbeNode) {
  strands_.Submit("probe", [this] { Post(containers_.Probe()); });
}

}  // namespace houtu::agent
