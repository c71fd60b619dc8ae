#include "agent/service/agent_shell.h"

#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

constexpr int kWorkers = 8;
/// Of these, at most so many wait for other nodes or for a large file.
constexpr int kTransfersMax = 4;
/// How often jobs whose retention is over are looked for.
constexpr absl::Duration kSweepInterval = absl::Seconds(60);

}  // namespace

AgentShell::AgentShell(Parts parts, AgentCore::Options options)
    : parts_(parts),
      core_(std::move(options)),
      containers_({.config = parts.config,
                   .paths = parts.paths,
                   .records = parts.records,
                   .jobs = parts.jobs,
                   .runtime = parts.runtime,
                   .rootfs = parts.rootfs},
                  [this](Event event) { Post(std::move(event)); }),
      tasks_({.config = parts.config,
              .paths = parts.paths,
              .records = parts.records,
              .store = parts.store,
              .inputs = parts.inputs,
              .logs = parts.logs,
              .runtime = parts.runtime}),
      strands_(&pool_),
      transfers_(&pool_, kTransfersMax),
      pool_(kWorkers) {}

AgentShell::~AgentShell() {
  for (const auto& [id, lease] : core_.leases()) {
    parts_.runtime->Unwatch(id);
  }
}

void AgentShell::SetLinks(MasterLink* master, ManagerLinks* managers) {
  master_ = master;
  managers_ = managers;
}

absl::Status AgentShell::Start() {
  HOUTU_RETURN_IF_ERROR(MakeFolders(parts_.paths->leases()));
  HOUTU_RETURN_IF_ERROR(parts_.store->RemoveLeftovers());
  Recovered recovered;
  HOUTU_ASSIGN_OR_RETURN(recovered.terms, parts_.records->ReadTerms());
  HOUTU_ASSIGN_OR_RETURN(LeaseRecords::Found found, parts_.records->Scan());
  for (const std::string& id : found.unknown) {
    LogInfo("unrecorded lease removed", {{"lease", id}});
    containers_.RemoveUnknown(id);
  }
  for (RecoveredLease& lease : found.leases) {
    const std::string& id = lease.start.lease().id();
    HOUTU_RETURN_IF_ERROR(Annotate(containers_.Recover(&lease), "lease " + id));
    for (const RecoveredAttempt& attempt : lease.attempts) {
      if (!attempt.end) {
        const AttemptKey key = KeyOf(attempt.spec.id());
        parts_.logs->AddLive(key, parts_.paths->task(id, key));
      }
    }
    LogInfo("lease found again",
            {{"lease", id}, {"runs", lease.container_runs}, {"attempts", lease.attempts.size()}});
  }
  recovered.leases = std::move(found.leases);
  parts_.loop->SetAfterBatch([this] { AfterBatch(); });
  parts_.loop->Post([this, recovered = std::move(recovered)] {
    Step(recovered);
    Step(Woken{.disk_free_bytes = DiskFreeBytes(*parts_.paths)});
    SweepExpired();
  });
  return absl::OkStatus();
}

void AgentShell::Post(Event event) {
  parts_.loop->Post([this, event = std::move(event)] { Step(event); });
}

void AgentShell::Step(const Event& event) {
  Effects effects = core_.Step(absl::Now(), event);
  for (Effect& effect : effects) {
    std::visit([this](auto&& e) { Perform(std::move(e)); }, std::move(effect));
  }
}

void AgentShell::AfterBatch() {
  registered_ = core_.registered();
  FlushReports();
  ArmTimer();
  parts_.metrics->SetLeases(static_cast<int>(core_.leases().size()));
  parts_.metrics->SetInService(core_.health().in_service());
}

void AgentShell::FlushReports() {
  for (auto& [session, reports] : reports_) {
    v1::TaskMessage message;
    *message.mutable_reports() = std::move(reports);
    managers_->Send(session, std::move(message));
  }
  reports_.clear();
}

void AgentShell::ArmTimer() {
  const absl::Time wake = core_.next_wake();
  if (wake == timer_at_) {
    return;
  }
  parts_.loop->Cancel(timer_);
  timer_at_ = wake;
  if (wake == absl::InfiniteFuture()) {
    return;
  }
  timer_ = parts_.loop->PostAfter(wake - absl::Now(), [this] {
    timer_at_ = absl::InfiniteFuture();
    Step(Woken{.disk_free_bytes = DiskFreeBytes(*parts_.paths)});
  });
}

void AgentShell::SweepExpired() {
  transfers_.Submit([this] {
    const absl::Duration retention =
        DurationOr(parts_.config->has_retention(), parts_.config->retention(), absl::Hours(24));
    for (const std::string& job : parts_.jobs->EndedBefore(absl::Now() - retention)) {
      if (parts_.store->Forget(job).ok() && parts_.logs->Forget(job).ok()) {
        parts_.jobs->Remove(job);
        LogInfo("job's partitions and logs deleted", {{"job", job}});
      }
    }
  });
  parts_.loop->PostAfter(kSweepInterval, [this] { SweepExpired(); });
}

}  // namespace houtu::agent
