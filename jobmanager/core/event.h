// What happens to a job manager: everything that its core is told.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "houtu/v1/agent_service.pb.h"
#include "houtu/v1/job_master_service.pb.h"
#include "houtu/v1/partition_service.pb.h"
#include "houtu/v1/peer_service.pb.h"
#include "houtu/v1/record.pb.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// The job's records as they lay in ZooKeeper when this manager took its term. Always the first
/// event.
struct Recovered {
  struct Stage {
    int stage = 0;
    v1::StageRecord record;
  };
  /// An assignment or a finished record of one datacenter.
  template <typename Record>
  struct Chunk {
    int stage = 0;
    std::string datacenter;
    int chunk = 0;
    Record record;
  };
  v1::JobStateRecord state;
  bool cancel_requested = false;
  std::vector<Stage> stages;
  std::vector<Chunk<v1::AssignmentRecord>> assignments;
  std::vector<Chunk<v1::FinishedRecord>> finished;
  /// This datacenter's, by number.
  std::vector<std::pair<int, v1::EventsRecord>> events;
};

/// The multi of WriteRecords with this number is in ZooKeeper.
struct RecordsWritten {
  int64_t batch = 0;
};

/// A stage's record, as the primary wrote it. Only told to managers that are not the primary.
struct StageRead {
  int stage = 0;
  v1::StageRecord record;
};

/// This datacenter's tasks of a chunk, as the primary assigned them. Not told to the primary.
struct AssignmentRead {
  int stage = 0;
  int chunk = 0;
  v1::AssignmentRecord record;
};

/// Another datacenter's finished tasks of a chunk, in full.
struct FinishedRead {
  int stage = 0;
  std::string datacenter;
  int chunk = 0;
  v1::FinishedRecord record;
};

/// The job's state, as the primary wrote it. Not told to the primary.
struct StateRead {
  v1::JobStateRecord record;
};

/// Somebody asked for the job's end.
struct CancelRequested {
  std::string by;
};

/// The session with the master is up; `leases` is what it says that the job holds here.
struct MasterConnected {
  v1::JobMasterWelcome welcome;
};
struct MasterDisconnected {
  std::string reason;
};
struct LeaseWasGranted {
  v1::LeaseGranted granted;
};
struct LeaseWasRevoked {
  v1::LeaseRevoked revoked;
};
struct DemandReasonsTold {
  v1::DemandReasons reasons;
};

/// The session with a node's agent is up; the welcome lists every attempt that it knows.
struct AgentConnected {
  std::string node;
  v1::TaskWelcome welcome;
};
struct AgentDisconnected {
  std::string node;
  std::string reason;
};
struct TasksReported {
  std::string node;
  v1::TaskReports reports;
};
struct StartRefused {
  std::string node;
  v1::TaskRefused refused;
};

/// The answer to ListInputs.
struct InputsListed {
  int stage = 0;
  std::string datacenter;
  absl::StatusOr<v1::ListInputsResponse> response;
};

/// The answer to WriteOutput: the job's result was written to the path it names, or what was lost
/// of it, or why not.
struct OutputWritten {
  absl::StatusOr<v1::WriteOutputResponse> response;
};

/// Another datacenter's manager tells how its part goes. Only told to the primary.
struct PeerReported {
  v1::SubJobReport report;
};

/// The time that the core asked for has come.
struct Tick {};

using Event =
    std::variant<Recovered, RecordsWritten, StageRead, AssignmentRead, FinishedRead, StateRead,
                 CancelRequested, MasterConnected, MasterDisconnected, LeaseWasGranted,
                 LeaseWasRevoked, DemandReasonsTold, AgentConnected, AgentDisconnected,
                 TasksReported, StartRefused, InputsListed, OutputWritten, PeerReported, Tick>;

}  // namespace houtu::jobmanager
