// AgentDriver: AgentCore with a shell that does everything well, unless a test says otherwise.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/core/agent_core.h"

namespace houtu::agent {

inline constexpr int64_t kMemory = 64 << 20;

/// Carries effects out at once: records are written, containers start, programs run until Exit.
class AgentDriver {
 public:
  AgentDriver()
      : core_({.node =
                   [] {
                     v1::Node node;
                     node.set_name("n1");
                     node.set_datacenter("dc1");
                     return node;
                   }(),
               .disk_reserve_bytes = 1000}) {}

  void Do(Event event) {
    events_.push_back(std::move(event));
    while (!events_.empty()) {
      const Event next = std::move(events_.front());
      events_.pop_front();
      for (Effect& effect : core_.Step(now, next)) {
        std::visit([this](auto& e) { Perform(e); }, effect);
      }
    }
  }

  // ---- The master ----

  void Command(v1::MasterCommand command, int64_t term = 1) {
    command.set_term(term);
    Do(MasterSaid{std::move(command)});
  }
  void Register() {
    Do(MasterConnected{});
    v1::MasterCommand registered;
    registered.mutable_registered()->mutable_heartbeat_interval()->set_seconds(1);
    Command(std::move(registered));
  }
  static v1::MasterCommand StartOf(const std::string& id, int64_t cpu_millis = 1000) {
    v1::MasterCommand command;
    v1::Lease& lease = *command.mutable_start()->mutable_lease();
    lease.set_id(id);
    lease.set_job("j");
    lease.set_kind(v1::Lease::KIND_WORKER);
    lease.set_token_sha256("token-sum");
    *lease.mutable_resources() = Resources(cpu_millis, kMemory).ToProto();
    return command;
  }
  static v1::MasterCommand EndOf(const std::string& id) {
    v1::MasterCommand command;
    command.mutable_end()->set_lease_id(id);
    command.mutable_end()->set_reason(v1::LEASE_END_REASON_RELEASED);
    command.mutable_end()->mutable_grace()->set_seconds(1);
    return command;
  }

  // ---- The job's manager ----

  void Hello(SessionId session, int64_t term = 1, const std::string& sum = "token-sum") {
    Do(ManagerHello{
        .session = session, .job = "j", .datacenter = "dc1", .term = term, .token_sha256 = sum});
  }
  static v1::TaskSpec Spec(int task, const std::string& lease, int attempt = 1,
                           int64_t cpu_millis = 500) {
    v1::TaskSpec spec;
    spec.mutable_id()->set_job("j");
    spec.mutable_id()->set_stage("s");
    spec.mutable_id()->set_task(task);
    spec.mutable_id()->set_attempt(attempt);
    spec.set_lease_id(lease);
    spec.add_command("/bin/true");
    *spec.mutable_resources() = Resources(cpu_millis, kMemory / 4).ToProto();
    spec.mutable_grace()->set_seconds(5);
    return spec;
  }
  void Start(SessionId session, const v1::TaskSpec& spec) {
    v1::TaskCommand command;
    *command.mutable_start()->add_tasks() = spec;
    Do(ManagerSaid{session, std::move(command)});
  }
  void Acknowledge(SessionId session, const v1::AttemptId& id) {
    v1::TaskCommand command;
    *command.mutable_acknowledge()->add_ids() = id;
    Do(ManagerSaid{session, std::move(command)});
  }

  // ---- The world ----

  void Exit(const v1::TaskSpec& spec, int status = 0) {
    TaskExit exit{.id = KeyOf(spec.id()), .exit_status = status};
    Do(TaskExited{.lease_id = spec.lease_id(), .key = KeyOf(spec.id()), .exit = exit});
  }
  /// The time of each wake that is due until then.
  void Pass(absl::Duration time) {
    const absl::Time end = now + time;
    while (core_.next_wake() <= end) {
      now = std::max(now, core_.next_wake());
      Do(Woken{.disk_free_bytes = disk_free});
      v1::MasterCommand echo;
      echo.mutable_heartbeat();
      Command(std::move(echo));
    }
    now = end;
  }

  template <typename T>
  std::vector<T> Take() {
    std::vector<T> taken;
    std::erase_if(done_, [&taken](const Effect& effect) {
      const T* wanted = std::get_if<T>(&effect);
      if (wanted != nullptr) {
        taken.push_back(*wanted);
      }
      return wanted != nullptr;
    });
    return taken;
  }
  /// Lease reports to the master.
  std::vector<v1::LeaseReport> TakeLeaseReports() {
    std::vector<v1::LeaseReport> reports;
    for (const SendToMaster& send : Take<SendToMaster>()) {
      if (send.message.has_lease()) {
        reports.push_back(send.message.lease());
      }
    }
    return reports;
  }
  /// What the job's manager was told of tasks.
  std::vector<v1::TaskReport> TakeTaskReports() {
    std::vector<v1::TaskReport> reports;
    for (const SendTaskReport& send : Take<SendTaskReport>()) {
      reports.push_back(send.report);
    }
    return reports;
  }

  AgentCore& core() { return core_; }

  absl::Time now = absl::FromUnixSeconds(1000);
  int64_t disk_free = 1'000'000;
  /// The next starts of containers fail so.
  absl::Status container_status = absl::OkStatus();
  bool node_fault = true;
  absl::Status probe_status = absl::OkStatus();
  /// Launches are not answered by themselves.
  bool hold_launches = false;
  LaunchResult launch_result;

 private:
  template <typename E>
  void Perform(E& effect) {
    Answer(effect);
    done_.push_back(std::move(effect));
  }
  template <typename E>
  void Answer(const E&) {}
  void Answer(const RecordLease& e) {
    events_.push_back(LeaseRecorded{.lease_id = e.start.lease().id(), .status = absl::OkStatus()});
  }
  void Answer(const StartContainer& e) {
    events_.push_back(ContainerStarted{.lease_id = e.start.lease().id(),
                                       .status = container_status,
                                       .node_fault = !container_status.ok() && node_fault});
  }
  void Answer(const DestroyContainer& e) {
    events_.push_back(ContainerDestroyed{.lease_id = e.lease_id, .status = absl::OkStatus()});
  }
  void Answer(const RecordLeaseEnd& e) {
    events_.push_back(LeaseEndRecorded{e.report.lease().id()});
  }
  void Answer(const LaunchTask& e) {
    if (!hold_launches) {
      events_.push_back(TaskLaunched{
          .lease_id = e.spec.lease_id(), .key = KeyOf(e.spec.id()), .result = launch_result});
    }
  }
  void Answer(const StopProgram& e) {
    TaskExit exit{.id = e.key, .exit_status = -1, .signal = 15, .stopped = true};
    events_.push_back(TaskExited{.lease_id = e.lease_id, .key = e.key, .exit = exit});
  }
  void Answer(const FinishTask& e) {
    TaskFinished finished{.lease_id = e.lease_id, .key = KeyOf(e.spec.id()), .report = e.report};
    if (e.exit) {
      finished.report.set_end_reason(e.exit->stopped            ? v1::TASK_END_REASON_STOPPED
                                     : e.exit->exit_status == 0 ? v1::TASK_END_REASON_SUCCEEDED
                                                                : v1::TASK_END_REASON_FAILED);
      finished.report.set_exit_status(e.exit->exit_status);
    }
    events_.push_back(std::move(finished));
  }
  void Answer(const ProbeNode&) { events_.push_back(Probed{probe_status}); }

  AgentCore core_;
  std::deque<Event> events_;
  std::vector<Effect> done_;
};

}  // namespace houtu::agent
