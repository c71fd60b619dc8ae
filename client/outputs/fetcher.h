// Fetcher: all of a job's output files from the agents that hold them, several agents at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/net/agents.h"
#include "client/net/interrupt.h"
#include "client/outputs/output_folder.h"
#include "houtu/v1/client_service.pb.h"

namespace houtu::client {

/// A file that could not be had, and why.
struct MissingFile {
  v1::OutputFile file;
  absl::Status why;
};

/// Owner: the command.
class Fetcher {
 public:
  /// Agents that are asked at a time.
  static constexpr int kAgentsAtATime = 4;
  /// Files asked for in one stream.
  static constexpr size_t kFilesPerStream = 500;
  /// Streams tried without a single new file before what is left is given up.
  static constexpr int kAttempts = 3;
  static constexpr absl::Duration kRetryPause = absl::Milliseconds(500);

  /// All outlive it. `on_progress` is called by one thread at a time with files that arrived.
  Fetcher(Agents* agents, const OutputFolder* folder, Interrupt* interrupt,
          std::function<void(size_t)> on_progress);

  /// Fetches them; the ones that could not be had come back, sorted by stage, task and name. One
  /// agent's failure stops no other agent's files; an interrupt or a full disk stops all.
  std::vector<MissingFile> Fetch(const std::string& job_id,
                                 const std::vector<v1::OutputFile>& files);

 private:
  using Group = std::vector<v1::OutputFile>;  // of one agent and stage

  std::vector<MissingFile> FetchGroup(const std::string& job_id, Group group);
  /// One stream; returns why it ended. `group` keeps what is missing.
  absl::Status FetchOnce(const std::string& job_id, Group* group);

  Agents* const agents_;
  const OutputFolder* const folder_;
  Interrupt* const interrupt_;
  const std::function<void(size_t)> on_progress_;
};

}  // namespace houtu::client
