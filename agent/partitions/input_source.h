// InputSource: brings an attempt's inputs to where its task reads them.
//
//   <task>/in/<stage>/<task>     upstream partitions: a file, or a folder with the files by name
//   <task>/raw/<name>            the raw input, under its own name
//
// All is made in a staging folder that no container sees and then renamed into the task's folder:
// that one belongs to the container, where another task of the lease could put a link in the way of
// an agent that writes there as root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/partitions/data_roots.h"
#include "agent/partitions/partition_store.h"
#include "agent/partitions/remote_files.h"
#include "agent/partitions/stream_retry.h"
#include "houtu/v1/task.pb.h"

namespace houtu::agent {

/// What an attempt read, and how it went.
struct InputOutcome {
  /// OK: all inputs are there. DATA_LOSS: an input could not be had, `lost` names the partitions.
  /// Others: this node's disk.
  absl::Status status;
  std::vector<v1::LostPartition> lost;
  int64_t local_bytes = 0;
  /// Bytes from other nodes, by the datacenter that served them.
  std::map<std::string, int64_t> bytes_from;
  /// The raw input's file name; empty: none.
  std::string raw_name;
};

/// Where to put an attempt's inputs.
struct InputPlace {
  /// Not seen by any container, on the same file system; made and removed here.
  std::filesystem::path staging;
  /// The task's folder, with an empty in/.
  std::filesystem::path task_dir;
  /// The container's user ids: [uid_base, uid_base + 65536).
  uint32_t uid_base = 0;
};

/// Owner: the agent's shell. Thread-safe; calls block.
class InputSource {
 public:
  struct Options {
    std::string datacenter;
    std::string node;
    /// Pause before the second try of a stream; it doubles.
    absl::Duration retry_pause = absl::Milliseconds(200);
    /// Waits; tests pass their own.
    std::function<void(absl::Duration)> sleep;
  };
  static constexpr int kTriesMax = kStreamTriesMax;

  InputSource(Options options, const DataRoots* roots, const PartitionStore* store,
              RemoteFiles* remote);

  /// Whether the spec has inputs at all, and whether any comes over the network.
  static bool HasInputs(const v1::TaskSpec& spec);
  bool NeedsNetwork(const v1::TaskSpec& spec) const;

  InputOutcome Bring(const v1::TaskSpec& spec, const InputPlace& place) const;

 private:
  absl::Status BringAll(const v1::TaskSpec& spec, const InputPlace& place, InputOutcome* out) const;
  absl::Status BringRaw(const v1::TaskSpec& spec, const InputPlace& place, InputOutcome* out) const;
  absl::Status LocalRaw(const v1::RawInput& input, const std::filesystem::path& target,
                        uint32_t uid_base, InputOutcome* out) const;
  absl::Status RemoteRaw(const v1::TaskSpec& spec, const std::filesystem::path& staging,
                         InputOutcome* out) const;
  absl::Status BringLocal(const std::string& job, const v1::PartitionSource& source,
                          const std::filesystem::path& stage_dir, InputOutcome* out) const;
  absl::Status BringRemote(const std::string& job, const v1::PartitionSource& source,
                           const std::filesystem::path& stage_dir,
                           const std::filesystem::path& fetched, InputOutcome* out) const;
  bool IsLocal(const std::string& datacenter, const std::string& node) const;
  absl::Status Retry(const std::function<absl::Status()>& attempt) const;

  Options options_;
  const DataRoots* roots_;
  const PartitionStore* store_;
  RemoteFiles* remote_;
};

}  // namespace houtu::agent
