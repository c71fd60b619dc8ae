// LeaseBook: every lease that the master knows, by id, job and node.
#pragma once

#include <map>
#include <set>
#include <string>

#include "houtu/v1/lease.pb.h"

namespace houtu::master {

///   kSent --accepted--> kHeld --release, job's end, preemption--> kEnding --report, node lost-->
///   removed
struct LeaseEntry {
  enum class State {
    kSent,    // commanded; the agent has not answered yet
    kHeld,    // the agent has recorded it: the job manager was told
    kEnding,  // its end was commanded
  };
  v1::Lease lease;
  State state = State::kSent;
  v1::LeaseEndReason end_reason = v1::LEASE_END_REASON_UNSPECIFIED;
};

/// Owner: MasterCore. One thread.
class LeaseBook {
 public:
  /// Precondition: no lease of that id.
  LeaseEntry& Add(const v1::Lease& lease, LeaseEntry::State state);
  /// nullptr: unknown.
  LeaseEntry* Find(const std::string& id);
  const LeaseEntry* Find(const std::string& id) const;
  /// Precondition: known.
  void Remove(const std::string& id);

  /// Ids, sorted; copies, so that the caller may remove.
  std::set<std::string> OfJob(const std::string& job) const;
  std::set<std::string> OnNode(const std::string& node) const;
  const std::map<std::string, LeaseEntry>& all() const { return leases_; }

 private:
  std::map<std::string, LeaseEntry> leases_;
  std::map<std::string, std::set<std::string>> by_job_;
  std::map<std::string, std::set<std::string>> by_node_;
};

}  // namespace houtu::master
