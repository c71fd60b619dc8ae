// JobWorld: JobManagerCore of a job in one datacenter, with a master that grants what is asked for,
// agents that run what they are sent, and a ZooKeeper that takes what is written. Virtual time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/resources.h"
#include "jobmanager/core/job_manager_core.h"

namespace houtu::jobmanager {

inline constexpr int64_t kTaskMemory = 32 << 20;

/// A job of one stage; more by AddStage.
inline v1::JobRecord JobOf(const std::vector<v1::Stage>& stages) {
  v1::JobRecord record;
  record.set_id("j0000000000000000000");
  record.add_datacenters("dc1");
  record.set_primary_datacenter("dc1");
  v1::Job& job = *record.mutable_job();
  job.set_version("houtu/v1");
  job.set_name("test");
  job.set_image("host");
  for (const v1::Stage& stage : stages) {
    *job.add_stages() = stage;
  }
  job.mutable_output()->set_stage(stages.back().name());
  return record;
}

inline v1::Stage StageOf(const std::string& name, int tasks, int attempts = 3) {
  v1::Stage stage;
  stage.set_name(name);
  stage.set_tasks(tasks);
  stage.add_command("/bin/true");
  *stage.mutable_resources() = Resources(100, kTaskMemory).ToProto();
  stage.mutable_retry()->set_attempts(attempts);
  stage.mutable_retry()->mutable_backoff()->set_seconds(1);
  return stage;
}

inline v1::Stage Needing(v1::Stage stage, const std::string& upstream, v1::Exchange exchange) {
  stage.add_needs()->set_stage(upstream);
  stage.mutable_needs(stage.needs_size() - 1)->set_exchange(exchange);
  return stage;
}

inline std::string NameOf(const v1::AttemptId& id) {
  return id.stage() + "/" + std::to_string(id.task()) + "#" + std::to_string(id.attempt());
}

class JobWorld {
 public:
  explicit JobWorld(v1::JobRecord job, int64_t term = 1)
      : core_({.job = std::move(job), .datacenter = "dc1", .node = "n0", .term = term}) {}

  /// Begins with the records of an earlier manager.
  void Begin(Recovered recovered = {}) {
    Do(std::move(recovered));
    Do(MasterConnected{});
  }

  /// Runs until nothing is to be done, the job ended, or the time is over.
  void Run(absl::Duration limit = absl::Minutes(10)) {
    const absl::Time end = now + limit;
    while (!finished && wake_at_ <= end) {
      now = std::max(now, wake_at_);
      Do(Tick{});
    }
  }

  void Do(Event event) {
    events_.push_back(std::move(event));
    while (!events_.empty() && !finished) {
      const Event next = std::move(events_.front());
      events_.pop_front();
      Effects effects = core_.Step(now, next);
      wake_at_ = effects.wake_at;
      for (Effect& effect : effects.list) {
        std::visit([this](auto& e) { On(e); }, effect);
      }
    }
  }

  /// What an attempt that succeeded tells.
  static v1::TaskReport Succeeded(const v1::TaskSpec& spec) {
    v1::TaskReport report = Ended(spec, v1::TASK_END_REASON_SUCCEEDED);
    v1::Partition* file = report.add_partitions();
    file->set_name("0");
    file->set_size_bytes(10);
    return report;
  }
  static v1::TaskReport Ended(const v1::TaskSpec& spec, v1::TaskEndReason reason) {
    v1::TaskReport report;
    *report.mutable_id() = spec.id();
    report.set_lease_id(spec.lease_id());
    report.set_state(v1::TaskReport::STATE_ENDED);
    report.set_end_reason(reason);
    return report;
  }
  static v1::TaskReport Running(const v1::TaskSpec& spec) {
    v1::TaskReport report;
    *report.mutable_id() = spec.id();
    report.set_lease_id(spec.lease_id());
    report.set_state(v1::TaskReport::STATE_RUNNING);
    return report;
  }
  void Report(const std::string& node, const v1::TaskReport& report) {
    v1::TaskReports reports;
    *reports.add_reports() = report;
    Do(TasksReported{node, reports});
  }
  /// The node dies: its leases end.
  void LoseNode(const std::string& node) {
    nodes.erase(node);
    for (const auto& [id, lease] : std::map(leases_)) {
      if (lease.node() == node) {
        leases_.erase(id);
        v1::LeaseRevoked revoked;
        revoked.set_lease_id(id);
        revoked.set_reason(v1::LEASE_END_REASON_NODE_LOST);
        events_.push_back(LeaseWasRevoked{revoked});
      }
    }
    Do(AgentDisconnected{node, "gone"});
  }
  std::string NodeOf(const v1::TaskSpec& spec) const { return node_of_.at(spec.lease_id()); }

  v1::JobStateRecord State() const {
    v1::JobStateRecord state;
    state.ParseFromString(records.at(RecordKey::State()));
    return state;
  }
  v1::StageRecord Stage(int stage) const {
    v1::StageRecord record;
    const auto it = records.find(RecordKey::Stage(stage));
    if (it != records.end()) {
      record.ParseFromString(it->second);
    }
    return record;
  }
  /// Attempts started, "stage/task#attempt".
  std::vector<std::string> StartedNames() const {
    std::vector<std::string> names;
    for (const v1::TaskSpec& spec : started) {
      names.push_back(NameOf(spec.id()));
    }
    return names;
  }

  absl::Time now = absl::FromUnixSeconds(1000);
  std::set<std::string> nodes = {"n1", "n2"};
  int containers_per_node = 4;
  /// How an attempt goes; nothing: the test reports itself.
  std::function<std::vector<v1::TaskReport>(const v1::TaskSpec&)> run =
      [](const v1::TaskSpec& spec) { return std::vector{Running(spec), Succeeded(spec)}; };
  /// The reason why containers fail; empty: they don't.
  std::string image_error;
  bool hold_records = false;

  std::vector<v1::TaskSpec> started;
  std::vector<v1::AttemptId> acknowledged;
  std::vector<v1::AttemptId> discarded;
  std::map<RecordKey, std::string> records;
  std::vector<WriteRecords> batches;
  std::vector<int64_t> held_batches;
  int grants = 0;
  bool finished = false;

 private:
  void On(WriteRecords& write) {
    if (hold_records) {
      held_batches.push_back(write.batch);
    } else {
      events_.push_back(RecordsWritten{write.batch});
    }
    for (const WriteRecords::Write& one : write.writes) {
      records[one.key] = one.data;
    }
    batches.push_back(std::move(write));
  }
  void On(OpenAgent& open) {
    v1::TaskWelcome welcome;
    welcome.set_node(open.node);
    events_.push_back(AgentConnected{open.node, welcome});
  }
  void On(CloseAgent&) {}
  void On(SendToAgent& send) {
    for (const v1::TaskSpec& spec : send.command.start().tasks()) {
      started.push_back(spec);
      v1::TaskReports reports;
      for (v1::TaskReport& report : run(spec)) {
        *reports.add_reports() = std::move(report);
      }
      if (reports.reports_size() > 0) {
        events_.push_back(TasksReported{send.node, reports});
      }
    }
    for (const v1::AttemptId& id : send.command.acknowledge().ids()) {
      acknowledged.push_back(id);
    }
    for (const v1::AttemptId& id : send.command.acknowledge().discard()) {
      discarded.push_back(id);
    }
  }
  /// As the master does, after each message.
  void On(SendToMaster& send) {
    if (send.message.has_release()) {
      leases_.erase(send.message.release().lease_id());
    }
    if (send.message.has_desire()) {
      desire_ = send.message.desire();
    }
    for (const v1::Demand& demand : desire_.demands()) {
      Grant(demand);
    }
  }
  void Grant(const v1::Demand& demand) {
    int held = static_cast<int>(leases_.size());
    for (const std::string& node : nodes) {
      int on_node = 0;
      for (const auto& [id, lease] : leases_) {
        on_node += lease.node() == node ? 1 : 0;
      }
      for (; on_node < containers_per_node && held < demand.containers(); ++on_node, ++held) {
        v1::LeaseGranted granted;
        v1::Lease& lease = *granted.mutable_lease();
        lease.set_id("dc1.1." + std::to_string(++grants));
        lease.set_job(core_.context().job.id());
        lease.set_node(node);
        *lease.mutable_resources() = demand.resources();
        lease.set_image(demand.image());
        granted.set_agent_address(node + ":7201");
        node_of_[lease.id()] = node;
        if (image_error.empty()) {
          leases_[lease.id()] = lease;
        }
        events_.push_back(LeaseWasGranted{granted});
        if (!image_error.empty()) {
          v1::LeaseRevoked revoked;
          revoked.set_lease_id(lease.id());
          revoked.set_reason(v1::LEASE_END_REASON_CONTAINER_FAILED);
          revoked.set_message(image_error);
          events_.push_back(LeaseWasRevoked{revoked});
        }
      }
    }
  }
  void On(ListInputs&) {}
  void On(WriteOutput&) { events_.push_back(OutputWritten{absl::OkStatus()}); }
  void On(ReportToPrimary&) {}
  void On(Finish&) { finished = true; }

  JobManagerCore core_;
  std::deque<Event> events_;
  absl::Time wake_at_ = absl::InfiniteFuture();
  v1::Desire desire_;
  std::map<std::string, v1::Lease> leases_;
  std::map<std::string, std::string> node_of_;
};

}  // namespace houtu::jobmanager
