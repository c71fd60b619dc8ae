// SharedView: what the threads that serve clients may read of the master. The loop writes, anybody
// reads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordination/blocking.h"
#include "common/coordination/coordination.h"
#include "houtu/v1/event.pb.h"
#include "houtu/v1/node.pb.h"
#include "houtu/v1/status.pb.h"

namespace houtu::master {

/// A datacenter's leading master.
struct MasterAddress {
  std::string address;
  int64_t term = 0;
  bool operator==(const MasterAddress&) const = default;
};

/// Thread-safe. Owner: main; outlives every thread that serves.
class SharedView {
 public:
  struct Leading {
    int64_t term = 0;
    /// First in every multi of the leader.
    coordination::CheckOp term_check;
  };

  /// How long a worker waits for one answer of ZooKeeper.
  static constexpr absl::Duration kStoreTimeout = absl::Seconds(5);

  /// ZooKeeper for a worker thread. UNAVAILABLE: no session just now.
  /// The session lives as long as somebody holds it.
  absl::StatusOr<std::shared_ptr<coordination::Coordination>> Store() const;
  void SetStore(std::shared_ptr<coordination::Coordination> store);

  /// UNAVAILABLE with the leader's address: this master stands by.
  absl::StatusOr<Leading> RequireLeading() const;
  void SetLeading(std::optional<Leading> leading);

  std::map<std::string, MasterAddress> Masters() const;
  void SetMasters(std::map<std::string, MasterAddress> masters);
  void SetOwn(const std::string& datacenter, const std::string& address);

  /// Why jobs of this datacenter wait, its nodes and sums: published by the loop after each
  /// decision.
  struct Cluster {
    std::vector<v1::Node> nodes;
    v1::Datacenter summary;
    std::map<std::string, std::vector<v1::WaitReason>> waits;
  };
  std::shared_ptr<const Cluster> ClusterNow() const;
  void SetCluster(std::shared_ptr<const Cluster> cluster);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<coordination::Coordination> store_;
  std::optional<Leading> leading_;
  std::map<std::string, MasterAddress> masters_;
  std::shared_ptr<const Cluster> cluster_ = std::make_shared<const Cluster>();
  std::string datacenter_;
  std::string address_;
};

}  // namespace houtu::master
