// Shell: turns the world into the core's events and carries its effects out.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/coordination/coordination.h"
#include "common/coordination/lifeline.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "jobmanager/core/job_manager_core.h"
#include "jobmanager/service/agent_sessions.h"
#include "jobmanager/service/manager_metrics.h"
#include "jobmanager/service/master_session.h"
#include "jobmanager/service/primary_link.h"
#include "jobmanager/service/record_watch.h"
#include "jobmanager/service/record_writer.h"
#include "jobmanager/service/unary_calls.h"

namespace houtu {
class ChannelPool;
}

namespace houtu::jobmanager {

/// Owner: main. Made, used and ended on the loop's thread.
class Shell {
 public:
  struct Options {
    EventLoop* loop = nullptr;
    coordination::Coordination* coordination = nullptr;
    ChannelPool* channels = nullptr;
    JobContext context;
    Recovered recovered;
    std::string token;
    ManagerMetrics* metrics = nullptr;
    /// OK: the job ended and that is recorded. Else why this manager can't go on: another took its
    /// term, or the ZooKeeper session is over. Called once.
    std::function<void(absl::Status)> on_end;
  };
  explicit Shell(Options options);

  /// Something happened.
  void Tell(const Event& event);

 private:
  void Perform(Effect effect);
  void Do(WriteRecords effect) { writer_.Write(std::move(effect)); }
  void Do(const OpenAgent& effect) { agents_.Open(effect.node, effect.address); }
  void Do(const CloseAgent& effect) { agents_.Close(effect.node); }
  void Do(SendToAgent effect) { agents_.Send(effect.node, std::move(effect.command)); }
  void Do(SendToMaster effect) { master_.Send(std::move(effect.message)); }
  void Do(const ListInputs& effect) { calls_.List(effect); }
  void Do(const WriteOutput& effect) { calls_.Write(effect); }
  void Do(ReportToPrimary effect);
  void Do(const Finish& effect);
  void SetTimer(absl::Time at);
  void End(absl::Status status);
  absl::Time Now();

  EventLoop* const loop_;
  ManagerMetrics* const metrics_;
  std::function<void(absl::Status)> on_end_;
  absl::Time now_ = absl::InfinitePast();
  absl::Time wake_at_ = absl::InfiniteFuture();
  EventLoop::TimerId timer_ = 0;
  JobManagerCore core_;
  RecordPaths paths_;
  RecordWriter writer_;
  MasterSession master_;
  AgentSessions agents_;
  UnaryCalls calls_;
  std::unique_ptr<PrimaryLink> primary_;  // null: this is the primary
  std::unique_ptr<RecordWatch> watch_;
  coordination::Subscription session_;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::jobmanager
