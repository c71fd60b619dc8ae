// DatacenterDirectory: every datacenter and its leading master, followed through ZooKeeper.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/coordination/coordination.h"
#include "common/coordination/leader.h"
#include "common/coordination/watch.h"
#include "common/records/paths.h"
#include "master/service/shared_view.h"

namespace houtu::master {

/// Owner: the master's shell; one per session. Thread: the loop's. A datacenter without a leader is
/// listed with an empty address.
class DatacenterDirectory {
 public:
  using Changed = std::function<void(const std::map<std::string, MasterAddress>&)>;

  DatacenterDirectory(coordination::Coordination* store, const RecordPaths& paths, Changed changed);

 private:
  void OnNames(const std::vector<std::string>& names);
  void OnLeader(const std::string& datacenter, const std::optional<coordination::Leader>& leader);

  coordination::Coordination* const store_;
  const RecordPaths paths_;
  const Changed changed_;
  std::map<std::string, MasterAddress> masters_;
  std::map<std::string, std::unique_ptr<coordination::LeaderWatch>> watches_;
  std::unique_ptr<coordination::ChildrenWatch> names_;
};

}  // namespace houtu::master
