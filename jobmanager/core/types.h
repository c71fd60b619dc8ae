// The small values that the job manager's parts hand to one another.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace houtu::jobmanager {

/// A task: its stage's place in the job file and its number in the stage.
struct TaskRef {
  int stage = 0;
  int task = 0;
  auto operator<=>(const TaskRef&) const = default;
};

/// One try at a task.
struct AttemptRef {
  TaskRef task;
  int attempt = 0;
  auto operator<=>(const AttemptRef&) const = default;
};

/// Names one of the job's records in ZooKeeper (see proto/houtu/v1/record.proto).
struct RecordKey {
  enum class Kind { kState, kStatus, kRunning, kStage, kAssignment, kFinished, kEvents };
  Kind kind = Kind::kState;
  /// kStage, kAssignment, kFinished: the stage's place in the job file.
  int stage = -1;
  /// kAssignment: the datacenter whose tasks it holds. Finished and events records are always those
  /// of the manager's own datacenter.
  std::string datacenter;
  /// kAssignment, kFinished: the chunk; kEvents: the record's number.
  int chunk = -1;
  auto operator<=>(const RecordKey&) const = default;

  static RecordKey State() { return {Kind::kState, -1, "", -1}; }
  static RecordKey Status() { return {Kind::kStatus, -1, "", -1}; }
  static RecordKey Running() { return {Kind::kRunning, -1, "", -1}; }
  static RecordKey Stage(int stage) { return {Kind::kStage, stage, "", -1}; }
  static RecordKey Assignment(int stage, std::string datacenter, int chunk) {
    return {Kind::kAssignment, stage, std::move(datacenter), chunk};
  }
  static RecordKey Finished(int stage, int chunk) { return {Kind::kFinished, stage, "", chunk}; }
  static RecordKey Events(int number) { return {Kind::kEvents, -1, "", number}; }
};

}  // namespace houtu::jobmanager
