// What a job manager's core wants done. Effects are carried out in their order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "houtu/v1/agent_service.pb.h"
#include "houtu/v1/job_master_service.pb.h"
#include "houtu/v1/peer_service.pb.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// Write these in one multi that also checks the manager's term, creating what does not exist; then
/// tell RecordsWritten. At most one is under way. A refusal for the term ends the process.
/// `ends_job`: in the same multi the job leaves the active ones, by which the masters see its end.
struct WriteRecords {
  struct Write {
    RecordKey key;
    std::string data;
  };
  int64_t batch = 0;
  std::vector<Write> writes;
  bool ends_job = false;
};

/// Hold a session with this node's agent, connecting again when it breaks, until CloseAgent.
struct OpenAgent {
  std::string node;
  std::string address;
};
struct CloseAgent {
  std::string node;
};
/// Sent on the session of the newest AgentConnected; dropped if that one is gone.
struct SendToAgent {
  std::string node;
  v1::TaskCommand command;
};

/// Sent on the session of the newest MasterConnected; dropped if that one is gone.
struct SendToMaster {
  v1::JobManagerMessage message;
};

/// Ask the datacenter's leading master for the files; then tell InputsListed.
struct ListInputs {
  int stage = 0;
  std::string datacenter;
  std::vector<v1::Input> inputs;
};

/// Have this agent write the job's result; then tell OutputWritten.
struct WriteOutput {
  std::string agent_address;
  std::string path;
  std::vector<v1::PartitionSource> sources;
};

/// Tell the primary; a lost report is followed by another.
struct ReportToPrimary {
  v1::SubJobReport report;
};

/// The job ended and that is recorded: the process exits with 0.
struct Finish {};

using Effect = std::variant<WriteRecords, OpenAgent, CloseAgent, SendToAgent, SendToMaster,
                            ListInputs, WriteOutput, ReportToPrimary, Finish>;

struct Effects {
  std::vector<Effect> list;
  /// When to tell Tick, unless another event comes first; InfiniteFuture: never.
  absl::Time wake_at = absl::InfiniteFuture();
};

}  // namespace houtu::jobmanager
