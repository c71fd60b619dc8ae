// JobWorld: a job's managers, one JobManagerCore for each of its datacenters, with masters that
// grant what is asked for, agents that run what they are sent, and a ZooKeeper that takes what is
// written and tells it to the others. Virtual time; everything happens at once unless a test holds
// it back.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobmanager/core/job_manager_core.h"
#include "tests/jobmanager/core/jobs.h"

namespace houtu::jobmanager {

/// Every datacenter has nodes of the same names. What a test leaves out of a datacenter's name is
/// about "dc1", the primary's.
class JobWorld {
 public:
  explicit JobWorld(v1::JobRecord job);

  // ---- What happens (job_world.cc) ----

  /// Starts every datacenter's manager.
  void Begin();
  /// Runs until nothing is to be done, the job ended, or the time is over.
  void Run(absl::Duration limit = absl::Minutes(10));
  /// Tells a manager the event, and everybody what follows from it at once.
  void Do(Event event, const std::string& datacenter = "dc1");
  /// The manager's process dies: what it had under way is gone, the held records are not written.
  void Kill(const std::string& datacenter = "dc1");
  /// It is started with the next term, from the records.
  void Restart(const std::string& datacenter = "dc1");
  /// Writes the records held back.
  void ReleaseRecords();

  // ---- Nodes (job_world_site.cc) ----

  /// What the attempt's agent tells of it, now.
  void Report(const v1::TaskSpec& spec, const v1::TaskReport& report);
  /// Its master ends the lease for the reason, as the node's fault or not.
  void Revoke(const std::string& lease, v1::LeaseEndReason reason, bool node_fault);
  /// Its machine dies, its master tells.
  void LoseNode(const std::string& node, const std::string& datacenter = "dc1");
  /// The session with its agent breaks: nothing is heard of it until Heal.
  void Cut(const std::string& node, const std::string& datacenter = "dc1");
  void Heal(const std::string& node, const std::string& datacenter = "dc1");
  /// The session with the master breaks, or begins.
  void SetMaster(bool up, const std::string& datacenter = "dc1");

  // ---- What came of it ----

  v1::JobStateRecord State() const { return Record<v1::JobStateRecord>(RecordKey::State()); }
  v1::JobStatus Status() const { return Record<v1::JobStatus>(RecordKey::Status()); }
  v1::StageRecord Stage(int stage) const {
    return Record<v1::StageRecord>(RecordKey::Stage(stage));
  }
  /// Empty: it was never written. `owner`: of a finished or an events record.
  template <typename Message>
  Message Record(const RecordKey& key, const std::string& owner = "") const {
    Message message;
    if (const auto it = records.find({owner, key}); it != records.end()) {
      message.ParseFromString(it->second);
    }
    return message;
  }
  /// Attempts started, "stage/task#attempt"; one of them.
  std::vector<std::string> StartedNames() const;
  const v1::TaskSpec& Started(const std::string& name) const;
  /// Attempts that agents have and whose ends were not acknowledged.
  std::vector<std::string> Alive(const std::string& datacenter = "dc1") const;
  std::string NodeOf(const v1::TaskSpec& spec) const { return places_.at(spec.lease_id()).second; }
  std::string DatacenterOf(const v1::TaskSpec& spec) const {
    return places_.at(spec.lease_id()).first;
  }
  int Leases(const std::string& datacenter = "dc1") const;

  // ---- How it goes; tests change it ----

  absl::Time now = absl::FromUnixSeconds(1000);
  int containers_per_node = 4;
  /// How an attempt goes; nothing: the test reports itself.
  std::function<std::vector<v1::TaskReport>(const v1::TaskSpec&)> run = Succeeds;
  /// Whether the agent refuses the start.
  std::function<bool(const v1::TaskSpec&)> refuses = [](const v1::TaskSpec&) { return false; };
  /// Whether agents stop what they are told to; false: the test reports itself.
  bool stops = true;
  /// The files that listings find, by "datacenter:path as the input gives it".
  std::map<std::string, std::vector<v1::InputFile>> files;
  /// The answer of masters to listings, if it is an error.
  absl::Status listing_error;
  /// The reason why containers fail; empty: they don't.
  std::string image_error;
  /// How the agent answers that is to write the result.
  std::function<absl::StatusOr<v1::WriteOutputResponse>(const WriteOutput&)> writes =
      [](const WriteOutput& /*write*/) { return v1::WriteOutputResponse(); };
  bool hold_records = false;
  bool lose_reports = false;
  /// Chunks are told to others before their stage's record.
  bool tell_stages_late = false;

  // ---- What was done ----

  std::vector<v1::TaskSpec> started;
  std::vector<std::string> acknowledged;
  std::vector<std::string> discarded;
  std::vector<std::string> stopped;
  /// By the datacenter that owns it (finished and events records; else empty) and key.
  std::map<std::pair<std::string, RecordKey>, std::string> records;
  std::vector<WriteRecords> batches;
  int grants = 0;
  std::vector<ListInputs> listings;
  std::vector<WriteOutput> outputs;
  std::vector<v1::SubJobReport> reports;
  /// The primary's process exited with 0.
  bool finished = false;

 private:
  struct Node {
    bool alive = true;
    bool cut = false;
    bool session = false;
    std::map<std::string, std::pair<v1::TaskSpec, v1::TaskReport>> attempts;  // by name
  };
  struct Site {
    std::unique_ptr<JobManagerCore> core;  // null: dead
    int64_t term = 0;
    absl::Time wake_at = absl::InfiniteFuture();
    bool finished = false;
    bool master_up = true;
    v1::Desire desire;
    std::map<std::string, v1::LeaseGranted> leases;
    std::map<std::string, Node> nodes = {{"n1", {}}, {"n2", {}}};
    std::optional<WriteRecords> held;
  };

  void Drain();
  Recovered Recover(const std::string& datacenter) const;
  void Apply(const std::string& writer, const WriteRecords& write);
  void TellOthers(const std::string& writer, const RecordKey& key, const std::string& data);
  void Connect(const std::string& datacenter);
  void Welcome(const std::string& datacenter, const std::string& node);
  void StartAll(const std::string& datacenter, const std::string& node,
                const v1::StartTasks& start);
  void Stop(const std::string& datacenter, const std::string& node, const v1::AttemptId& id);
  void GrantAll(const std::string& datacenter);
  void Grant(const std::string& datacenter, const v1::Demand& demand);
  void GrantOne(const std::string& datacenter, const std::string& node, const v1::Demand& demand);
  void Push(const std::string& datacenter, Event event) {
    events_.emplace_back(datacenter, std::move(event));
  }

  void On(const std::string& datacenter, WriteRecords& write);
  void On(const std::string& datacenter, OpenAgent& open);
  void On(const std::string& datacenter, CloseAgent& close);
  void On(const std::string& datacenter, SendToAgent& send);
  void On(const std::string& datacenter, SendToMaster& send);
  void On(const std::string& datacenter, ListInputs& list);
  void On(const std::string& datacenter, WriteOutput& write);
  void On(const std::string& datacenter, ReportToPrimary& report);
  void On(const std::string& datacenter, Finish& finish);

  const v1::JobRecord job_;
  std::map<std::string, Site> sites_;
  std::deque<std::pair<std::string, Event>> events_;
  std::map<std::string, std::pair<std::string, std::string>> places_;  // by lease: where it is
};

}  // namespace houtu::jobmanager
