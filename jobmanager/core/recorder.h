// Recorder: group commit of the job's records. One multi is under way at a time; whatever changes
// meanwhile goes into the next. So no task costs a write of its own, and nothing is told to anybody
// before it was written.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobmanager/core/effect.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// The task's result is recorded: it is finished, and its agent may forget it.
struct ResultRecorded {
  AttemptRef attempt;
  std::string node;
};
/// This datacenter's tasks of the chunk are recorded as its own: they may start.
struct AssignmentRecorded {
  int stage = 0;
  int chunk = 0;
};
/// What became of the attempt is recorded: its agent may forget it.
struct EndRecorded {
  AttemptRef attempt;
  std::string node;
};
/// The job's last state is recorded.
struct JobEndRecorded {};

using Deferred = std::variant<ResultRecorded, AssignmentRecorded, EndRecorded, JobEndRecorded>;

/// Owner: JobManagerCore. Not thread-safe. Records are written in the order in which they were
/// marked first.
class Recorder {
 public:
  using Serialise = std::function<std::string(const RecordKey&)>;

  /// The record changed and must be written.
  void Mark(const RecordKey& key);
  /// Marks the record; `deferred` is handed out once a write that starts after this call is done.
  void MarkThen(const RecordKey& key, Deferred deferred);

  /// The next multi, if none is under way and something is marked. At most kMultiBytesMax and
  /// kMultiWritesMax, but always at least one record.
  std::optional<WriteRecords> Next(const Serialise& serialise);

  /// That multi is written; what waited for it, in order. Empty for a number that is not under way.
  std::vector<Deferred> Written(int64_t batch);

  /// Nothing is marked or under way.
  bool idle() const { return !in_flight_ && marked_.empty(); }
  /// Whether a mark of the record has not been taken into a multi yet.
  bool marked(const RecordKey& key) const { return waiting_.contains(key); }

 private:
  std::deque<RecordKey> marked_;
  std::map<RecordKey, std::vector<Deferred>> waiting_;  // by marked key
  bool in_flight_ = false;
  std::vector<Deferred> in_flight_deferred_;
  int64_t batch_ = 0;
};

}  // namespace houtu::jobmanager
