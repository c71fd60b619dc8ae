// RecordWriter: carries out the core's WriteRecords: each one multi, fenced by the manager's term.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "common/coordination/coordination.h"
#include "common/coordination/lifeline.h"
#include "common/records/paths.h"
#include "jobmanager/core/effect.h"
#include "jobmanager/core/event.h"
#include "jobmanager/core/job_context.h"

namespace houtu::jobmanager {

/// Owner: the shell. Thread: the loop's. One multi at a time. Every multi first checks the version
/// of the manager's own record: once a newer manager wrote it, nothing is written any more.
///
/// Without a connection it waits for one and writes then. Where the outcome is unknown it looks
/// which of the records exist and writes all of them again: each has this one writer.
class RecordWriter {
 public:
  struct Callbacks {
    std::function<void(int64_t batch)> on_written;
    /// No write will ever succeed again; last call.
    std::function<void(absl::Status)> on_lost;
  };
  /// `recovered`: the records that exist.
  RecordWriter(coordination::Coordination* coordination, const RecordPaths& paths,
               const JobContext& context, const Recovered& recovered, Callbacks callbacks);

  /// Precondition: the last one was told as written.
  void Write(WriteRecords batch);

  std::string PathOf(const RecordKey& key) const;

 private:
  void Send();
  void OnResult(const coordination::MultiResult& result);
  void LookAndSend(size_t next);

  coordination::Coordination* const coordination_;
  const RecordPaths paths_;
  const JobContext& context_;
  const Callbacks callbacks_;
  std::set<std::string> existing_;
  std::optional<WriteRecords> batch_;
  bool look_first_;       // an earlier manager wrote records
  bool waiting_ = false;  // for a connection
  bool unsure_ = false;   // which of the batch's records exist
  coordination::Subscription session_;
  coordination::Lifeline lifeline_;
};

}  // namespace houtu::jobmanager
