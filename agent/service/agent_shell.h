// AgentShell: AgentCore in the world. One loop owns the core; events are posted to it from
// everywhere, its effects are carried out in order: what is quick at once, what blocks by workers.
//
//   gRPC, timers, the runtime's threads, workers ──Post──> loop: core.Step ──> effects
//        ^                                                          │
//        └──── containers (a strand per lease), transfers <─────────┘
//
// Reports of one batch of the loop leave as one message per job manager.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/agent_core.h"
#include "agent/logs/log_store.h"
#include "agent/partitions/data_roots.h"
#include "agent/partitions/input_source.h"
#include "agent/partitions/job_registry.h"
#include "agent/partitions/partition_store.h"
#include "agent/service/agent_metrics.h"
#include "agent/service/container_work.h"
#include "agent/service/links.h"
#include "agent/service/strands.h"
#include "agent/service/task_work.h"
#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"

namespace houtu::agent {

/// Owner: main. Post and registered are thread-safe.
class AgentShell {
 public:
  struct Parts {
    const v1::AgentConfig* config = nullptr;
    const WorkPaths* paths = nullptr;
    const LeaseRecords* records = nullptr;
    const JobRegistry* jobs = nullptr;
    const PartitionStore* store = nullptr;
    const DataRoots* roots = nullptr;
    const InputSource* inputs = nullptr;
    LogStore* logs = nullptr;
    ContainerRuntime* runtime = nullptr;
    RootfsSource* rootfs = nullptr;
    AgentMetrics* metrics = nullptr;
    EventLoop* loop = nullptr;
  };
  AgentShell(Parts parts, AgentCore::Options options);
  /// Waits for what workers do. The loop must have been stopped; containers go on running.
  ~AgentShell();

  /// Set before Start; they outlive the loop.
  void SetLinks(MasterLink* master, ManagerLinks* managers);

  /// Reads what is there from before and begins. As ErrnoError says: the work folder can't be used.
  absl::Status Start();

  void Post(Event event);
  bool registered() const { return registered_; }

 private:
  void Step(const Event& event);
  void AfterBatch();
  void FlushReports();
  void ArmTimer();

  // effects.cc
  void Perform(RecordTerms effect);
  void Perform(RecordLease effect);
  void Perform(StartContainer effect);
  void Perform(DestroyContainer effect);
  void Perform(RecordLeaseEnd effect);
  void Perform(ForgetLease effect);
  void Perform(LaunchTask effect);
  void Perform(StopProgram effect);
  void Perform(FinishTask effect);
  void Perform(ForgetAttempts effect);
  void Perform(DiscardOutputs effect);
  void Perform(ForgetJobData effect);
  void Perform(SendToMaster effect);
  void Perform(ReconnectMaster effect);
  void Perform(ListInputFiles effect);
  void Perform(SendTaskReport effect);
  void Perform(SendToManager effect);
  void Perform(CloseSession effect);
  void Perform(ProbeNode effect);

  void StartPrepared(const LaunchTask& task, PreparedTask prepared);
  void FinishReaped(const FinishTask& task, const TaskUsage& usage);
  void SweepExpired();

  Parts parts_;
  AgentCore core_;
  ContainerWork containers_;
  TaskWork tasks_;
  MasterLink* master_ = nullptr;
  ManagerLinks* managers_ = nullptr;
  std::map<SessionId, v1::TaskReports> reports_;
  EventLoop::TimerId timer_ = 0;
  absl::Time timer_at_ = absl::InfiniteFuture();
  std::atomic<bool> registered_ = false;
  Strands strands_;
  BoundedQueue transfers_;
  WorkerPool pool_;  // last: it ends first, and what it runs uses all of the above
};

}  // namespace houtu::agent
