#include "master/core/lease_book.h"

#include "common/base/check.h"

namespace houtu::master {
namespace {

void EraseFrom(std::map<std::string, std::set<std::string>>* index, const std::string& key,
               const std::string& id) {
  const auto it = index->find(key);
  it->second.erase(id);
  if (it->second.empty()) {
    index->erase(it);
  }
}

std::set<std::string> In(const std::map<std::string, std::set<std::string>>& index,
                         const std::string& key) {
  const auto it = index.find(key);
  return it == index.end() ? std::set<std::string>() : it->second;
}

}  // namespace

LeaseEntry& LeaseBook::Add(const v1::Lease& lease, LeaseEntry::State state) {
  const auto [it, is_new] = leases_.emplace(lease.id(), LeaseEntry{.lease = lease, .state = state});
  HOUTU_CHECK(is_new, "no lease twice: " + lease.id());
  by_job_[lease.job()].insert(lease.id());
  by_node_[lease.node()].insert(lease.id());
  return it->second;
}

LeaseEntry* LeaseBook::Find(const std::string& id) {
  const auto it = leases_.find(id);
  return it == leases_.end() ? nullptr : &it->second;
}

const LeaseEntry* LeaseBook::Find(const std::string& id) const {
  const auto it = leases_.find(id);
  return it == leases_.end() ? nullptr : &it->second;
}

void LeaseBook::Remove(const std::string& id) {
  const auto it = leases_.find(id);
  HOUTU_CHECK(it != leases_.end(), "a lease that is removed is known: " + id);
  EraseFrom(&by_job_, it->second.lease.job(), id);
  EraseFrom(&by_node_, it->second.lease.node(), id);
  leases_.erase(it);
}

std::set<std::string> LeaseBook::OfJob(const std::string& job) const { return In(by_job_, job); }

std::set<std::string> LeaseBook::OnNode(const std::string& node) const {
  return In(by_node_, node);
}

}  // namespace houtu::master
