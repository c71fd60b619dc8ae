// MasterCore: a datacenter's master as a pure state machine. It keeps nodes, leases and desires,
// asks the allocator who gets a container, checks each line of its plan again, commands agents and
// tells job managers.
//
//   Step(now, event)   takes note and answers what must be answered at once
//   Decide(now)        once after a batch of events: managers to start, the allocator's plan
//
// Leases are safe with the agents, which report them again to a new leader; jobs are safe in
// ZooKeeper; desires come again from the job managers. So a core that starts with LeadershipGained
// knows all once the agents have registered, and a node that has not registered gives no leases:
// none can be granted twice.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/resources.h"
#include "houtu/v1/node.pb.h"
#include "houtu/v1/status.pb.h"
#include "master/allocator/allocator.h"
#include "master/core/events.h"
#include "master/core/lease_book.h"
#include "master/core/node_book.h"

namespace houtu::master {

/// Owner: the master's shell; one core per term of leadership. One thread, the loop's.
class MasterCore {
 public:
  struct Options {
    std::string datacenter;
    absl::Duration node_timeout = absl::Seconds(5);
    absl::Duration heartbeat_interval = absl::Seconds(1);
    Resources manager_resources{100, int64_t{256} << 20};
  };

  /// A manager that ended this often in a row, each time before it was stable, fails its job.
  static constexpr int kManagerFailuresMax = 10;
  /// Connected for this long it is stable: its end starts a new row.
  static constexpr absl::Duration kManagerStableAfter = absl::Seconds(60);
  /// Pause before a manager that ended by itself is started again; doubles up to the maximum.
  static constexpr absl::Duration kManagerBackoffFirst = absl::Milliseconds(500);
  static constexpr absl::Duration kManagerBackoffMax = absl::Seconds(30);
  /// Time between SIGTERM and SIGKILL for what still runs in a lease that ends.
  static constexpr absl::Duration kLeaseEndGrace = absl::Seconds(5);

  /// Ended jobs that agents which were away are told of.
  static constexpr size_t kEndedJobsMax = 10'000;

  MasterCore(Options options, std::unique_ptr<Allocator> allocator);

  Effects Step(absl::Time now, const Event& event);

  /// Precondition: leadership was gained. While it is suspended nothing is decided.
  Effects Decide(absl::Time now);

  /// When Decide should be called although nothing happened: a node falls silent, a back-off ends.
  absl::Time NextWake(absl::Time now) const;

  int64_t term() const { return term_; }

  // What others may read.

  /// Nodes with their leases, by name.
  std::vector<v1::Node> Nodes() const;
  /// Counts and sums; addresses and standbys are the shell's.
  v1::Datacenter Summary() const;
  /// Why a job waits here; empty: it does not.
  std::vector<v1::WaitReason> Waits(const std::string& job) const;
  const NodeBook& nodes() const { return nodes_; }
  const LeaseBook& leases() const { return leases_; }
  bool HasJob(const std::string& job) const { return jobs_.contains(job); }
  /// Whether this token is the job's.
  bool TokenFits(const std::string& job, const std::string& token) const;

 private:
  /// How containers of one shape are to be started.
  struct Wanted {
    int containers = 0;
    std::map<std::string, int> nodes;
    std::string image;
    v1::Network network = v1::NETWORK_UNSPECIFIED;
    std::string stage;
  };
  struct Job {
    ActiveJob info;
    std::optional<SessionId> session;
    int64_t manager_term = 0;
    std::string manager_lease;
    int manager_failures = 0;
    /// When the newest manager said its first hello; the future: it has not yet.
    absl::Time manager_since = absl::InfiniteFuture();
    absl::Time manager_not_before = absl::InfinitePast();
    /// Its manager may run on a node that has not registered yet: wait for it until then.
    absl::Time manager_expected_until = absl::InfinitePast();
    bool cancel_requested = false;
    std::string manager_trouble;
    std::map<Shape, Wanted> desire;
    std::vector<v1::WaitReason> told_reasons;
    std::vector<v1::WaitReason> reasons;
  };

  void On(const LeadershipGained& event);
  void On(const LeadershipSuspended& event);
  void On(const LeadershipResumed& event);
  void On(const JobActive& event);
  void On(const JobEnded& event);
  void On(const CancelRequested& event);
  void On(const AgentRegistered& event);
  void On(const AgentSessionEnded& event);
  void On(const AgentHeartbeat& event);
  void On(const LeaseReported& event);
  void On(const ManagerConnected& event);
  void On(const ManagerDisconnected& event);
  void On(const DesireChanged& event);
  void On(const LeaseReleased& event);

  // Agents and leases (master_core_agents.cc).
  void AdoptLease(const std::string& node, const v1::LeaseReport& report);
  void OnLeaseAccepted(LeaseEntry* lease);
  void OnLeaseEnded(const std::string& id, v1::LeaseEndReason reason, const std::string& message,
                    bool node_fault = false);
  void ResendCommands(const NodeEntry& node, const v1::RegisterNode& registration);
  void SetNodeUp(const NodeEntry& node);
  void LoseNode(const std::string& name);
  void CommandEnd(LeaseEntry* lease, v1::LeaseEndReason reason);
  void CommandStart(const LeaseEntry& lease);
  void ToNode(const std::string& node, v1::MasterCommand command);

  // Jobs and their managers (master_core_jobs.cc).
  void AddJob(const ActiveJob& info);
  void StartManagers();
  void StartManager(Job* job);
  void MakeRoomFor(const Job& job);
  void OnManagerLeaseEnded(Job* job, v1::LeaseEndReason reason, const std::string& message);
  void CancelWithoutManager();
  void SendWelcome(const Job& job);
  void ClearDesire(const std::string& id, Job* job);
  void CommitGrant(const Grant& grant);
  void TellReasons();
  v1::LeaseGranted GrantedMessage(const LeaseEntry& lease) const;
  Job* FindBySession(const std::string& job, SessionId session);
  std::string NewLeaseId();
  v1::Lease NewLease(const std::string& id, const Job& job, const std::string& node,
                     const Shape& shape, v1::Lease::Kind kind);

  const Options options_;
  const std::unique_ptr<Allocator> allocator_;
  absl::Time now_;
  Effects effects_;
  int64_t term_ = 0;
  bool suspended_ = false;
  int64_t next_lease_ = 1;
  int64_t next_order_ = 1;
  NodeBook nodes_;
  LeaseBook leases_;
  std::map<std::string, Job> jobs_;
  std::vector<std::string> ended_jobs_;
};

}  // namespace houtu::master
