// A node's partitions, inputs and logs in a temporary folder, served over mTLS on the loopback.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/logs/log_store.h"
#include "agent/partitions/data_roots.h"
#include "agent/partitions/job_registry.h"
#include "agent/partitions/partition_store.h"
#include "agent/service/output_writer.h"
#include "agent/service/partition_service.h"
#include "agent/service/remote_files.h"
#include "common/loop/event_loop.h"
#include "common/loop/worker_pool.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "tests/agent/images/temp_folder.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu::agent {

/// Job ids for tests, of two accounts.
inline constexpr char kAlicesJob[] = "j0000000000000000001";
inline constexpr char kBobsJob[] = "j0000000000000000002";

/// Owner: a test. Aborts where it can't be set up.
class TestNode {
 public:
  /// `remote`: how it reads other nodes; none: as agents do.
  TestNode(TestPki* pki, const std::string& datacenter, const std::string& node,
           RemoteFiles* remote = nullptr);

  /// host:port.
  std::string address() const;
  const std::string& datacenter() const { return datacenter_; }
  const std::string& node() const { return node_; }

  /// An attempt's folder while it runs.
  std::filesystem::path TaskDir(const AttemptKey& id) const;
  /// The attempt ends and leaves these files.
  void Commit(const AttemptKey& id, const std::map<std::string, std::string>& files);
  /// The disk has something else in one of them, in the same file.
  void Spoil(const AttemptKey& id, const std::string& name, const std::string& content) const;
  /// A partition source that names tasks' whole outputs, attempt 1 each.
  v1::PartitionSource Source(const std::string& stage, const std::vector<int>& tasks) const;

  std::filesystem::path data() const { return folder_.path() / "data"; }
  std::filesystem::path out() const { return folder_.path() / "out"; }
  LogStore& logs() { return logs_; }
  JobRegistry& jobs() { return jobs_; }
  PartitionStore& store() { return store_; }
  const OutputWriter& outputs() const { return outputs_; }

 private:
  const std::string datacenter_;
  const std::string node_;
  const testing::TempFolder folder_;
  PartitionStore store_{folder_.path() / "partitions"};
  JobRegistry jobs_{folder_.path() / "jobs"};
  DataRoots roots_{{data().native()}};
  LogStore logs_{folder_.path() / "logs"};
  ChannelPool channels_;
  GrpcRemoteFiles remote_{&channels_};
  OutputWriter outputs_;
  EventLoop loop_;
  WorkerPool readers_{2};
  WorkerPool writers_{2};
  PartitionService service_;
  std::unique_ptr<RpcServer> server_;
};

/// What a stream of files gave.
struct FetchedFiles {
  absl::Status status;
  /// Contents by "task/name".
  std::map<std::string, std::string> files;
  std::map<std::string, v1::FileHeader> headers;
  int chunks = 0;
  size_t largest_chunk = 0;
};

/// Reads a stream of files to its end as a caller with this role.
FetchedFiles Fetch(TestPki* pki, const std::string& role, const TestNode& node,
                   const v1::FetchPartitionsRequest& request);
FetchedFiles Fetch(TestPki* pki, const std::string& role, const TestNode& node,
                   const v1::FetchInputRequest& request);

/// A request for tasks' whole outputs, attempt 1 each.
v1::FetchPartitionsRequest Partitions(const std::string& job, const std::string& stage,
                                      const std::vector<int>& tasks);

}  // namespace houtu::agent
