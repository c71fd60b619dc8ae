// MasterShell: the world around MasterCore. It holds the ZooKeeper session and the candidacy, gives
// the core its events and carries its effects out. Services post to it; everything here runs on the
// loop's thread.
//
//   connecting --session--> standing --elected--> loading jobs --loaded--> leading
//        \______________________ session lost: everything anew ______________/
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/coordination/election.h"
#include "common/coordination/watch.h"
#include "common/coordination/zookeeper.h"
#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"
#include "common/records/paths.h"
#include "houtu/v1/config.pb.h"
#include "master/core/master_core.h"
#include "master/service/datacenter_directory.h"
#include "master/service/input_listing.h"
#include "master/service/master_metrics.h"
#include "master/service/shared_view.h"

namespace houtu::master {

/// Owner: main. Start, then posts only; Stop before the loop goes.
class MasterShell {
 public:
  struct Options {
    v1::MasterConfig config;
    MasterCore::Options core;
  };

  /// A stream's two ends as the shell needs them.
  struct AgentEnd {
    std::function<void(v1::MasterCommand)> send;
    std::function<void(absl::Status)> finish;
  };
  struct ManagerEnd {
    std::function<void(v1::JobMasterMessage)> send;
    std::function<void(absl::Status)> finish;
  };

  MasterShell(Options options, EventLoop* loop, WorkerPool* workers, SharedView* view,
              MasterMetrics* metrics);

  /// On the loop: opens the ZooKeeper session.
  void Start();
  /// On the loop: withdraws the candidacy and closes the session.
  void Stop();

  // From the services, on the loop's thread.

  /// UNAVAILABLE: this master does not lead (yet).
  absl::Status CheckLeading() const;
  SessionId NewSession() { return next_session_++; }
  void OnAgentRegistered(SessionId session, const v1::RegisterNode& node, AgentEnd end);
  void OnAgentMessage(SessionId session, const std::string& node, const v1::AgentMessage& message);
  void OnAgentGone(SessionId session, const std::string& node);
  /// PERMISSION_DENIED: the token is not the job's, or the job is not one of this datacenter's.
  absl::Status CheckToken(const std::string& job, const std::string& token) const;
  void OnManagerConnected(SessionId session, const std::string& job, int64_t term, ManagerEnd end);
  void OnManagerMessage(SessionId session, const std::string& job,
                        const v1::JobManagerMessage& message);
  void OnManagerGone(SessionId session, const std::string& job);
  void ListInputs(const v1::ListInputsRequest& request, InputListing::Done done);
  /// Reads the job anew from ZooKeeper: it was submitted, forwarded or cancelled.
  void LookAtJob(const std::string& job);

  bool leading() const { return core_ != nullptr; }

 private:
  void OnSessionState(coordination::SessionState state);
  void OpenSession();
  void DropSession();
  void OnConnected();
  void Stand();
  void OnElected(int64_t term);
  void OnLoaded(int64_t term, std::vector<ActiveJob> jobs, std::vector<std::string> ended);
  void StepDown(const absl::Status& reason);
  void OnActiveNames(const std::vector<std::string>& names);
  void CollectEndedJobs();
  void LookAgainUnlessWatched(const std::string& job);
  /// UNAVAILABLE: a node that is not lost has no session.
  absl::Status CheckAllNodesHeard() const;

  void Step(const Event& event);
  void AfterBatch();
  void CarryOut(Effects effects);
  void RecordEnd(const EndJob& end);
  /// Now, or when kPublishInterval after the last time is over.
  void PublishSoon();
  void Publish();
  /// Runs `work` with ZooKeeper on a worker; not at all without a session.
  void WithStore(std::function<void(const coordination::BlockingCoordination&)> work);

  const Options options_;
  const RecordPaths paths_;
  EventLoop* const loop_;
  WorkerPool* const workers_;
  SharedView* const view_;
  MasterMetrics* const metrics_;

  std::shared_ptr<coordination::Coordination> store_;
  std::optional<coordination::Subscription> session_watch_;
  std::unique_ptr<coordination::Election> election_;
  std::unique_ptr<DatacenterDirectory> directory_;
  std::unique_ptr<coordination::ChildrenWatch> active_watch_;
  std::set<std::string> active_;
  bool stopping_ = false;

  std::unique_ptr<MasterCore> core_;
  absl::Time leading_since_;
  absl::Time published_at_ = absl::InfinitePast();
  std::optional<EventLoop::TimerId> publish_timer_;
  bool dirty_ = false;
  std::optional<EventLoop::TimerId> wake_timer_;
  absl::Time wake_at_ = absl::InfiniteFuture();
  SessionId next_session_ = 1;
  std::map<SessionId, AgentEnd> agents_;
  std::map<std::string, SessionId> agent_of_node_;
  std::map<SessionId, ManagerEnd> managers_;
  InputListing listing_;
};

}  // namespace houtu::master
