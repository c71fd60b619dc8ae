// PartitionService: this node's partitions, raw inputs and logs, for those who may have them.
//
//   FetchPartitions  agents, managers and masters of the cluster; clients of the job's account
//   FetchInput       the same without clients; those of another datacenter with residency anywhere
//   ReadLog          agents and masters of the cluster; clients of the job's account
//   WriteOutput      managers and masters of the cluster
//
// An admin is a client of every account. Others get PERMISSION_DENIED; clients get NOT_FOUND where
// no lease of the job was ever here, or its retention is over.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/logs/log_store.h"
#include "agent/partitions/data_roots.h"
#include "agent/partitions/job_registry.h"
#include "agent/partitions/partition_store.h"
#include "agent/service/output_writer.h"
#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"
#include "common/rpc/identity.h"
#include "houtu/v1/partition_service.grpc.pb.h"

namespace houtu::agent {

/// Owner: main. All parts outlive the server. Thread-safe: gRPC's threads only look at
/// certificates, workers do the rest.
class PartitionService final : public v1::PartitionService::CallbackService {
 public:
  struct Parts {
    std::string datacenter;
    const JobRegistry* jobs = nullptr;
    const PartitionStore* store = nullptr;
    const DataRoots* roots = nullptr;
    const LogStore* logs = nullptr;
    const OutputWriter* outputs = nullptr;
    /// Reads the disk, a chunk at a time.
    WorkerPool* readers = nullptr;
    /// Writes outputs. Others than the readers: a writer waits for other nodes' readers, and two
    /// nodes that write each other's partitions must not wait for each other.
    WorkerPool* writers = nullptr;
    /// Waits for logs that grow.
    EventLoop* loop = nullptr;
  };
  explicit PartitionService(Parts parts) : parts_(std::move(parts)) {}

  grpc::ServerWriteReactor<v1::FileChunk>* FetchPartitions(
      grpc::CallbackServerContext* context, const v1::FetchPartitionsRequest* request) override;
  grpc::ServerWriteReactor<v1::FileChunk>* FetchInput(
      grpc::CallbackServerContext* context, const v1::FetchInputRequest* request) override;
  grpc::ServerWriteReactor<v1::LogChunk>* ReadLog(grpc::CallbackServerContext* context,
                                                  const v1::ReadLogRequest* request) override;
  grpc::ServerUnaryReactor* WriteOutput(grpc::CallbackServerContext* context,
                                        const v1::WriteOutputRequest* request,
                                        v1::WriteOutputResponse* response) override;

 private:
  /// Whether the caller, of a role that may call, may read what this job's stage left. Blocks on
  /// the disk.
  absl::Status CheckReader(const absl::StatusOr<Identity>& caller, const std::string& job,
                           const std::string& stage) const;
  /// Whether residency lets the input go to the caller.
  absl::Status CheckResidency(const absl::StatusOr<Identity>& caller,
                              const v1::RawInput& input) const;

  const Parts parts_;
};

}  // namespace houtu::agent
