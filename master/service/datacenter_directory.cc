#include "master/service/datacenter_directory.h"

#include <optional>

#include "houtu/v1/record.pb.h"

namespace houtu::master {

DatacenterDirectory::DatacenterDirectory(coordination::Coordination* store,
                                         const RecordPaths& paths, Changed changed)
    : store_(store), paths_(paths), changed_(std::move(changed)) {
  names_ = std::make_unique<coordination::ChildrenWatch>(
      store_, paths_.Datacenters(), [this](const auto& names) { OnNames(names); });
}

void DatacenterDirectory::OnNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (watches_.contains(name)) {
      continue;
    }
    masters_[name];
    watches_[name] = std::make_unique<coordination::LeaderWatch>(
        store_, paths_.MasterElection(name),
        [this, name](const auto& leader) { OnLeader(name, leader); });
  }
  changed_(masters_);
}

void DatacenterDirectory::OnLeader(const std::string& datacenter,
                                   const std::optional<coordination::Leader>& leader) {
  MasterAddress address;
  v1::Candidate candidate;
  if (leader.has_value() && candidate.ParseFromString(leader->candidate)) {
    address = {.address = candidate.address(), .term = leader->term};
  }
  masters_[datacenter] = address;
  changed_(masters_);
}

}  // namespace houtu::master
