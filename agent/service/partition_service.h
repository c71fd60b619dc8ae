// PartitionService: this node's partitions, raw inputs and logs, for those who may have them.
//
//   FetchPartitions  agents of the cluster; clients of the job's account
//   FetchInput       agents of this datacenter; others' with residency anywhere
//   ReadLog          clients of the job's account
//   WriteOutput      job managers with the job's datacenter certificate
#pragma once

#include <string>

#include "absl/status/status.h"
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

/// Owner: main. All parts outlive the server.
class PartitionService final : public v1::PartitionService::CallbackService {
 public:
  struct Parts {
    std::string datacenter;
    const JobRegistry* jobs = nullptr;
    const PartitionStore* store = nullptr;
    const DataRoots* roots = nullptr;
    const LogStore* logs = nullptr;
    const OutputWriter* outputs = nullptr;
    /// Reads the disk.
    WorkerPool* pool = nullptr;
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
  /// Whether the client may see the job. NOT_FOUND: another account's, or unknown here: a stranger
  /// learns no more than that.
  absl::Status CheckClient(const Identity& caller, const std::string& job) const;

  const Parts parts_;
};

}  // namespace houtu::agent
