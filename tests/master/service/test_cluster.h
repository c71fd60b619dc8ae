// Masters as real processes over a real ZooKeeper, for tests.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>

#include "common/coordination/blocking.h"
#include "common/coordination/coordination.h"
#include "common/loop/event_loop.h"
#include "common/records/paths.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/config.pb.h"
#include "tests/common/coordination/zookeeper_server.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu::master {

/// houtu-master as a process. Owner: a test; its end kills the process, as does the end of the
/// thread that started it.
class MasterProcess {
 public:
  MasterProcess(const v1::MasterConfig& config, std::string folder);
  ~MasterProcess();
  MasterProcess(const MasterProcess&) = delete;
  MasterProcess& operator=(const MasterProcess&) = delete;

  const std::string& address() const { return config_.address(); }
  /// SIGKILL, and waits for the end.
  void Kill();
  /// SIGTERM; the exit status (128 + the signal, if one ended it).
  int Stop();
  /// All that it wrote to standard error.
  std::string Log() const;
  /// The body of GET `path` of its HTTP server; empty: no answer.
  std::string HttpGet(const std::string& path) const;

 private:
  const v1::MasterConfig config_;
  const std::string folder_;
  pid_t pid_ = 0;
};

/// A ZooKeeper session of the test's own, to look at the records and to write some.
class TestStore {
 public:
  TestStore(const std::string& servers, const std::string& root);
  ~TestStore();
  const coordination::BlockingCoordination& operator*() const { return *blocking_; }
  const coordination::BlockingCoordination* operator->() const { return blocking_.get(); }

 private:
  EventLoop loop_;
  std::unique_ptr<coordination::Coordination> session_;
  std::unique_ptr<coordination::BlockingCoordination> blocking_;
};

/// Masters with a root of their own in the program's one ZooKeeper server, a CA and a folder.
class TestCluster {
 public:
  TestCluster();
  ~TestCluster();

  /// Starts one and does not wait. Its address is on a free port of 127.0.0.1.
  std::unique_ptr<MasterProcess> Start(const std::string& datacenter, const std::string& name);
  /// Waits until it answers, leading or not.
  void AwaitAnswer(const std::string& datacenter, const MasterProcess& master);
  /// Waits until it leads `datacenter` and says so.
  void AwaitLeader(const std::string& datacenter, const MasterProcess& master);
  /// Start and AwaitLeader.
  std::unique_ptr<MasterProcess> StartLeader(const std::string& datacenter,
                                             const std::string& name = "m1");

  /// A channel that shows a certificate of this role ("client/alice").
  std::shared_ptr<grpc::Channel> Channel(const std::string& role, const std::string& address);
  TestPki& pki() { return pki_; }
  const TestStore& store() const { return *store_; }
  const RecordPaths& paths() const { return paths_; }

 private:
  absl::Status Describe(const std::string& datacenter, const MasterProcess& master);

  const std::string folder_;
  const std::string root_;
  const RecordPaths paths_;
  TestPki pki_;
  std::unique_ptr<TestStore> store_;
  std::map<std::string, std::unique_ptr<ChannelPool>> pools_;
};

}  // namespace houtu::master
