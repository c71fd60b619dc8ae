#include "master/service/master_shell.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/log/log.h"
#include "houtu/v1/record.pb.h"
#include "master/allocator/fair.h"
#include "master/service/job_reader.h"
#include "master/service/job_writer.h"

namespace houtu::master {
namespace {

using coordination::BlockingCoordination;
using coordination::SessionState;

/// Pause before a session is opened anew after its loss.
constexpr absl::Duration kReopenPause = absl::Milliseconds(200);
/// What clients may read is made anew at most this often: with thousands of nodes it takes
/// milliseconds, and each heartbeat changes it.
constexpr absl::Duration kPublishInterval = absl::Milliseconds(100);
/// Pause before a job is read again that the watch has not told of yet.
constexpr absl::Duration kLookAgainPause = absl::Seconds(1);
/// How often jobs whose retention is over are looked for.
constexpr absl::Duration kCollectInterval = absl::Minutes(1);

}  // namespace

MasterShell::MasterShell(Options options, EventLoop* loop, WorkerPool* workers, SharedView* view,
                         MasterMetrics* metrics)
    : options_(std::move(options)),
      loop_(loop),
      workers_(workers),
      view_(view),
      metrics_(metrics),
      listing_(loop, [this](const std::string& node, const v1::ListFiles& request) {
        const auto it = agent_of_node_.find(node);
        if (it == agent_of_node_.end() || core_ == nullptr) {
          return false;
        }
        v1::MasterCommand command;
        command.set_term(core_->term());
        command.set_command_id(fmt::format("{}.files.{}", core_->term(), request.request_id()));
        *command.mutable_list_files() = request;
        agents_.at(it->second).send(std::move(command));
        return true;
      }) {
  view_->SetOwn(options_.config.datacenter(), options_.config.address());
  loop_->SetAfterBatch([this] { AfterBatch(); });
}

void MasterShell::Start() {
  OpenSession();
  loop_->PostAfter(kCollectInterval, [this] { CollectEndedJobs(); });
}

void MasterShell::Stop() {
  stopping_ = true;
  DropSession();
}

void MasterShell::OpenSession() {
  if (stopping_) {
    return;
  }
  const v1::ZooKeeper& config = options_.config.zookeeper();
  absl::StatusOr<std::unique_ptr<coordination::ZookeeperCoordination>> opened =
      coordination::ZookeeperCoordination::Start(
          {.servers = absl::StrJoin(config.servers(), ","),
           .root = config.root().empty() ? "/houtu/v1" : config.root(),
           .session_timeout = DurationOr(config.has_session_timeout(), config.session_timeout(),
                                         absl::Seconds(6))},
          [loop = loop_](std::function<void()> f) { loop->Post(std::move(f)); });
  if (!opened.ok()) {
    LogError("ZooKeeper session can't be opened", {{"status", opened.status()}});
    loop_->PostAfter(absl::Seconds(2), [this] { OpenSession(); });
    return;
  }
  // Workers may hold the session a little longer than the shell: it ends on the loop in any case.
  store_ = std::shared_ptr<coordination::Coordination>(
      opened->release(),
      [loop = loop_](coordination::Coordination* store) { loop->Post([store] { delete store; }); });
  session_watch_ = store_->OnSessionState([this](SessionState state) { OnSessionState(state); });
}

void MasterShell::OnSessionState(SessionState state) {
  metrics_->SetZookeeperState(coordination::Name(state));
  LogInfo("ZooKeeper session", {{"state", coordination::Name(state)}});
  if (state == SessionState::kConnected) {
    OnConnected();
  } else if (state == SessionState::kExpired) {
    StepDown(absl::UnavailableError("the ZooKeeper session expired"));
    DropSession();
    loop_->PostAfter(kReopenPause, [this] { OpenSession(); });
  }
}

void MasterShell::OnConnected() {
  view_->SetStore(store_);
  if (election_ != nullptr) {
    return;  // a reconnect: the election looks after itself
  }
  WithStore([this](const BlockingCoordination& store) {
    absl::Status status;
    for (const std::string& path :
         {paths_.Jobs(), paths_.AllActive(), paths_.Accounts(), paths_.Datacenters(),
          paths_.MasterElection(options_.config.datacenter())}) {
      status.Update(store.EnsurePath(path));
    }
    v1::DatacenterRecord record;
    record.set_name(options_.config.datacenter());
    record.set_policy(options_.config.policy().empty() ? "fair" : options_.config.policy());
    status.Update(
        store.Set(paths_.Datacenter(options_.config.datacenter()), record.SerializeAsString())
            .status());
    loop_->Post([this, status] {
      if (!status.ok()) {
        LogError("ZooKeeper can't be prepared", {{"status", status}});
        loop_->PostAfter(kReopenPause, [this] {
          if (store_ != nullptr && election_ == nullptr) OnConnected();
        });
        return;
      }
      Stand();
    });
  });
}

void MasterShell::Stand() {
  if (store_ == nullptr || election_ != nullptr || stopping_) {
    return;
  }
  v1::Candidate candidate;
  candidate.set_address(options_.config.address());
  candidate.set_name(options_.config.name());
  directory_ = std::make_unique<DatacenterDirectory>(
      store_.get(), paths_, [this](const auto& masters) { view_->SetMasters(masters); });
  election_ = std::make_unique<coordination::Election>(
      store_.get(),
      coordination::Election::Options{.path = paths_.MasterElection(options_.config.datacenter()),
                                      .candidate = candidate.SerializeAsString()},
      coordination::Election::Callbacks{.on_elected = [this](int64_t term) { OnElected(term); },
                                        .on_suspended =
                                            [this] {
                                              if (core_ != nullptr) Step(LeadershipSuspended{});
                                            },
                                        .on_resumed =
                                            [this](int64_t) {
                                              if (core_ != nullptr) Step(LeadershipResumed{});
                                            },
                                        .on_lost =
                                            [this](const absl::Status& reason) {
                                              StepDown(reason);
                                              if (store_ != nullptr &&
                                                  store_->state() != SessionState::kExpired) {
                                                loop_->Post([this] {
                                                  election_.reset();
                                                  Stand();
                                                });
                                              }
                                            }});
}

void MasterShell::OnElected(int64_t term) {
  LogInfo("elected", {{"term", term}});
  WithStore([this, term](const BlockingCoordination& store) {
    const JobReader reader(store, paths_);
    std::vector<ActiveJob> jobs;
    std::vector<std::string> ended;
    const auto active = store.GetChildren(paths_.AllActive());
    const auto all = store.GetChildren(paths_.Jobs());
    absl::Status status = active.ok() ? all.status() : active.status();
    if (status.ok()) {
      const std::set<std::string> is_active(active->begin(), active->end());
      for (const std::string& id : *all) {
        if (!is_active.contains(id)) {
          ended.push_back(id);
          continue;
        }
        absl::StatusOr<ActiveJob> job = reader.Active(id, options_.config.datacenter());
        if (job.ok()) {
          jobs.push_back(*std::move(job));
        } else if (!absl::IsNotFound(job.status())) {
          status = job.status();
        }
      }
    }
    loop_->Post([this, term, status, jobs = std::move(jobs), ended = std::move(ended)]() mutable {
      if (election_ == nullptr || election_->term() != term) {
        return;
      }
      if (!status.ok()) {
        LogWarning("the jobs can't be read; trying again", {{"status", status}});
        loop_->PostAfter(kReopenPause, [this, term] {
          if (election_ != nullptr && election_->term() == term && core_ == nullptr)
            OnElected(term);
        });
        return;
      }
      OnLoaded(term, std::move(jobs), std::move(ended));
    });
  });
}

void MasterShell::OnLoaded(int64_t term, std::vector<ActiveJob> jobs,
                           std::vector<std::string> ended) {
  core_ = std::make_unique<MasterCore>(options_.core, std::make_unique<FairAllocator>());
  active_.clear();
  std::erase_if(jobs, [&](const ActiveJob& job) {
    active_.insert(job.record.id());
    const auto& dcs = job.record.datacenters();
    return std::find(dcs.begin(), dcs.end(), options_.config.datacenter()) == dcs.end();
  });
  const size_t count = jobs.size();
  std::vector<std::string> ids;
  for (const ActiveJob& job : jobs) {
    ids.push_back(job.record.id());
  }
  Step(LeadershipGained{.term = term, .jobs = std::move(jobs), .ended_jobs = std::move(ended)});
  view_->SetLeading(SharedView::Leading{.term = term, .term_check = election_->TermCheck()});
  metrics_->SetLeader(true);
  leading_since_ = absl::Now();
  LogInfo("leading", {{"term", term}, {"jobs", count}});
  active_watch_ = std::make_unique<coordination::ChildrenWatch>(
      store_.get(), paths_.AllActive(), [this](const auto& names) { OnActiveNames(names); });
  for (const std::string& id : ids) {
    LookAtJob(id);  // whether it was cancelled
  }
}

void MasterShell::StepDown(const absl::Status& reason) {
  view_->SetLeading(std::nullopt);
  if (core_ == nullptr) {
    return;
  }
  LogWarning("leads no more", {{"term", core_->term()}, {"reason", reason}});
  metrics_->SetLeader(false);
  core_.reset();
  active_watch_.reset();
  const absl::Status gone = absl::UnavailableError("this master leads no more");
  for (auto& [session, end] : std::exchange(agents_, {})) {
    end.finish(gone);
  }
  for (auto& [session, end] : std::exchange(managers_, {})) {
    end.finish(gone);
  }
  agent_of_node_.clear();
}

void MasterShell::DropSession() {
  StepDown(absl::UnavailableError("the session ends"));
  view_->SetStore(nullptr);
  view_->SetMasters({});
  active_watch_.reset();
  directory_.reset();
  election_.reset();
  session_watch_.reset();
  store_.reset();
}

absl::Status MasterShell::CheckLeading() const {
  return core_ == nullptr ? view_->RequireLeading().status() : absl::OkStatus();
}

void MasterShell::OnActiveNames(const std::vector<std::string>& names) {
  const std::set<std::string> now(names.begin(), names.end());
  std::vector<std::string> ended;
  std::set_difference(active_.begin(), active_.end(), now.begin(), now.end(),
                      std::back_inserter(ended));
  std::vector<std::string> started;
  std::set_difference(now.begin(), now.end(), active_.begin(), active_.end(),
                      std::back_inserter(started));
  active_ = now;
  for (const std::string& job : ended) {
    metrics_->JobEnded();
    Step(JobEnded{.job = job});
  }
  for (const std::string& job : started) {
    LookAtJob(job);
  }
}

void MasterShell::LookAtJob(const std::string& job) {
  WithStore([this, job](const BlockingCoordination& store) {
    const JobReader reader(store, paths_);
    absl::StatusOr<ActiveJob> active = reader.Active(job, options_.config.datacenter());
    const absl::StatusOr<bool> cancel = reader.CancelRequested(job);
    loop_->Post([this, job, active = std::move(active), cancel] {
      if (core_ == nullptr) {
        return;
      }
      if (!active.ok()) {
        if (!absl::IsNotFound(active.status())) {
          LogWarning("a job can't be read; trying again",
                     {{"job", job}, {"status", active.status()}});
          loop_->PostAfter(absl::Seconds(1), [this, job] { LookAtJob(job); });
        } else if (core_->HasJob(job)) {
          Step(JobEnded{.job = job});
        }
        return;
      }
      const auto& dcs = active->record.datacenters();
      if (std::find(dcs.begin(), dcs.end(), options_.config.datacenter()) == dcs.end()) {
        return;
      }
      Step(JobActive{.job = *active});
      if (cancel.ok() && *cancel) {
        Step(CancelRequested{.job = job});
      }
      LookAgainUnlessWatched(job);
    });
  });
}

/// The watch tells the end of those jobs alone that it saw active: one that was read before the
/// watch heard of it, and ended meanwhile, would stay for ever.
void MasterShell::LookAgainUnlessWatched(const std::string& job) {
  if (active_.contains(job)) {
    return;
  }
  loop_->PostAfter(kLookAgainPause, [this, job] {
    if (core_ != nullptr && core_->HasJob(job) && !active_.contains(job)) {
      LookAtJob(job);
    }
  });
}

void MasterShell::OnAgentRegistered(SessionId session, const v1::RegisterNode& node, AgentEnd end) {
  LogInfo("node registered",
          {{"node", node.node().name()}, {"leases", node.leases_size()}, {"session", session}});
  agents_.emplace(session, std::move(end));
  agent_of_node_[node.node().name()] = session;
  Step(AgentRegistered{.session = session, .node = node});
}

void MasterShell::OnAgentMessage(SessionId session, const std::string& node,
                                 const v1::AgentMessage& message) {
  if (core_ == nullptr || !agents_.contains(session)) {
    return;
  }
  if (message.has_heartbeat()) {
    Step(AgentHeartbeat{.session = session, .node = node, .heartbeat = message.heartbeat()});
  } else if (message.has_lease()) {
    if (message.lease().state() == v1::LeaseReport::STATE_ENDED) {
      LogInfo("lease ended", {{"lease", message.lease().lease().id()},
                              {"reason", v1::LeaseEndReason_Name(message.lease().end_reason())},
                              {"message", message.lease().message()}});
    }
    Step(LeaseReported{.session = session, .node = node, .report = message.lease()});
  } else if (message.has_files()) {
    listing_.OnAnswer(node, message.files());
  } else if (message.has_refused()) {
    LogWarning("an agent refused a command", {{"node", node},
                                              {"command", message.refused().command_id()},
                                              {"reason", message.refused().reason()}});
  }
}

void MasterShell::OnAgentGone(SessionId session, const std::string& node) {
  agents_.erase(session);
  if (const auto it = agent_of_node_.find(node);
      it != agent_of_node_.end() && it->second == session) {
    agent_of_node_.erase(it);
    listing_.OnNodeGone(node);
  }
  if (core_ != nullptr) {
    Step(AgentSessionEnded{.session = session, .node = node});
  }
}

absl::Status MasterShell::CheckToken(const std::string& job, const std::string& token) const {
  HOUTU_RETURN_IF_ERROR(CheckLeading());
  if (!core_->TokenFits(job, token)) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "the token is not that of an active job {} of {}", job,
                 options_.config.datacenter());
  }
  return absl::OkStatus();
}

void MasterShell::OnManagerConnected(SessionId session, const std::string& job, int64_t term,
                                     ManagerEnd end) {
  LogInfo("job manager connected", {{"job", job}, {"term", term}});
  managers_.emplace(session, std::move(end));
  Step(ManagerConnected{.session = session, .job = job, .term = term});
}

void MasterShell::OnManagerMessage(SessionId session, const std::string& job,
                                   const v1::JobManagerMessage& message) {
  if (core_ == nullptr || !managers_.contains(session)) {
    return;
  }
  if (message.has_desire()) {
    Step(DesireChanged{.session = session, .job = job, .desire = message.desire()});
  } else if (message.has_release()) {
    Step(LeaseReleased{.session = session, .job = job, .lease = message.release().lease_id()});
  }
}

void MasterShell::OnManagerGone(SessionId session, const std::string& job) {
  managers_.erase(session);
  if (core_ != nullptr) {
    Step(ManagerDisconnected{.session = session, .job = job});
  }
}

/// Files of a node that is away for a moment would silently be missing.
absl::Status MasterShell::CheckAllNodesHeard() const {
  const bool is_first = core_->term() == 1;
  if (!is_first && absl::Now() < leading_since_ + options_.core.node_timeout) {
    return Error(absl::StatusCode::kUnavailable,
                 "nodes of {} may still be registering with the new master",
                 options_.config.datacenter());
  }
  for (const auto& [name, entry] : core_->nodes().all()) {
    if (!entry.session.has_value() && !entry.lost) {
      return Error(absl::StatusCode::kUnavailable, "node {} is away for a moment", name);
    }
  }
  return absl::OkStatus();
}

void MasterShell::ListInputs(const v1::ListInputsRequest& request, InputListing::Done done) {
  const bool names_all_nodes =
      std::all_of(request.inputs().begin(), request.inputs().end(),
                  [](const v1::Input& input) { return !input.node().empty(); });
  if (const absl::Status heard = CheckAllNodesHeard(); !names_all_nodes && !heard.ok()) {
    done(heard);
    return;
  }
  std::vector<InputListing::NodeAddress> nodes;
  for (const auto& [name, entry] : core_->nodes().all()) {
    if (entry.session.has_value()) {
      nodes.push_back({.node = name, .agent_address = entry.node.agent_address()});
    }
  }
  listing_.List(request, nodes, std::move(done));
}

void MasterShell::Step(const Event& event) {
  dirty_ = true;
  CarryOut(core_->Step(absl::Now(), event));
}

void MasterShell::AfterBatch() {
  if (core_ == nullptr || !dirty_) {
    return;
  }
  dirty_ = false;
  const absl::Time start = absl::Now();
  Effects effects = core_->Decide(start);
  metrics_->Decided(absl::Now() - start);
  CarryOut(std::move(effects));
  PublishSoon();
  const absl::Time wake = core_->NextWake(absl::Now());
  if (wake != wake_at_) {
    if (wake_timer_.has_value()) {
      loop_->Cancel(*wake_timer_);
      wake_timer_.reset();
    }
    wake_at_ = wake;
    if (wake != absl::InfiniteFuture()) {
      wake_timer_ = loop_->PostAfter(wake - absl::Now(), [this] {
        wake_at_ = absl::InfiniteFuture();
        dirty_ = true;
      });
    }
  }
}

void MasterShell::CarryOut(Effects effects) {
  for (Effect& effect : effects) {
    if (auto* agent = std::get_if<SendToAgent>(&effect)) {
      if (const auto it = agents_.find(agent->session); it != agents_.end()) {
        if (agent->command.has_start()) {
          LogInfo("lease granted", {{"lease", agent->command.start().lease().id()},
                                    {"job", agent->command.start().lease().job()},
                                    {"node", agent->command.start().lease().node()}});
        }
        it->second.send(std::move(agent->command));
      }
    } else if (auto* manager = std::get_if<SendToManager>(&effect)) {
      if (const auto it = managers_.find(manager->session); it != managers_.end()) {
        it->second.send(std::move(manager->message));
      }
    } else if (const auto* end = std::get_if<EndSession>(&effect)) {
      const absl::Status status = absl::AbortedError(end->reason);
      if (const auto it = agents_.find(end->session); it != agents_.end()) {
        it->second.finish(status);
      } else if (const auto m = managers_.find(end->session); m != managers_.end()) {
        m->second.finish(status);
      }
    } else if (const auto* job = std::get_if<EndJob>(&effect)) {
      RecordEnd(*job);
    }
  }
}

void MasterShell::RecordEnd(const EndJob& end) {
  LogInfo("job ended by its master", {{"job", end.job}, {"message", end.message}});
  const absl::StatusOr<SharedView::Leading> leading = view_->RequireLeading();
  if (!leading.ok()) {
    return;
  }
  WithStore([this, end, check = leading->term_check](const BlockingCoordination& store) {
    const absl::Status status =
        JobWriter(store, paths_, check).EndJob(end.job, end.state, end.message, absl::Now());
    if (!status.ok()) {
      LogWarning("a job's end can't be recorded; trying again",
                 {{"job", end.job}, {"status", status}});
      loop_->PostAfter(absl::Seconds(1), [this, end] {
        if (core_ != nullptr && core_->HasJob(end.job)) RecordEnd(end);
      });
    }
  });
}

void MasterShell::PublishSoon() {
  if (publish_timer_.has_value()) {
    return;
  }
  const absl::Duration since = absl::Now() - published_at_;
  if (since < absl::ZeroDuration() || since >= kPublishInterval) {
    Publish();
    return;
  }
  publish_timer_ = loop_->PostAfter(kPublishInterval - since, [this] {
    publish_timer_.reset();
    if (core_ != nullptr) {
      Publish();
    }
  });
}

void MasterShell::Publish() {
  published_at_ = absl::Now();
  auto cluster = std::make_shared<SharedView::Cluster>();
  cluster->nodes = core_->Nodes();
  cluster->summary = core_->Summary();
  cluster->summary.set_policy(options_.config.policy().empty() ? "fair" : options_.config.policy());
  for (const std::string& job : active_) {
    if (std::vector<v1::WaitReason> waits = core_->Waits(job); !waits.empty()) {
      cluster->waits[job] = std::move(waits);
    }
  }
  metrics_->SetCluster(cluster->summary, active_.size());
  view_->SetCluster(std::move(cluster));
}

void MasterShell::WithStore(std::function<void(const BlockingCoordination&)> work) {
  if (store_ == nullptr) {
    return;
  }
  workers_->Submit([store = store_, work = std::move(work)] {
    work(BlockingCoordination(store.get(), SharedView::kStoreTimeout));
  });
}

void MasterShell::CollectEndedJobs() {
  loop_->PostAfter(kCollectInterval, [this] { CollectEndedJobs(); });
  const absl::StatusOr<SharedView::Leading> leading = view_->RequireLeading();
  if (!leading.ok()) {
    return;
  }
  const absl::Duration retention = DurationOr(options_.config.has_job_retention(),
                                              options_.config.job_retention(), absl::Hours(24));
  WithStore([this, retention, check = leading->term_check,
             active = active_](const BlockingCoordination& store) {
    const auto all = store.GetChildren(paths_.Jobs());
    if (!all.ok()) {
      return;
    }
    for (const std::string& id : *all) {
      const auto node = active.contains(id)
                            ? absl::StatusOr<coordination::Node>(absl::NotFoundError(""))
                            : store.Get(paths_.State(id));
      v1::JobStateRecord state;
      if (node.ok() && state.ParseFromString(node->data) && HasEnded(state.state()) &&
          absl::Now() - FromProto(state.ended_at()) > retention) {
        const absl::Status status = JobWriter(store, paths_, check).Remove(id);
        LogInfo("job removed after its retention", {{"job", id}, {"status", status}});
      }
    }
  });
}

}  // namespace houtu::master
