// Who leads an election: the record of it, and a watch for followers, agents and clients.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/coordination/coordination.h"
#include "common/coordination/watch.h"

namespace houtu::coordination {

struct Leader {
  /// A serialized houtu.v1.Candidate.
  std::string candidate = {};
  int64_t term = 0;

  bool operator==(const Leader&) const = default;
};

/// The data of <path>/leader: "<term> <candidate's node>\n<candidate's bytes>".
struct LeaderRecord {
  Leader leader = {};
  /// The name of the candidate's node below <path>/election.
  std::string node = {};
};

std::string FormatLeader(const LeaderRecord& record);

/// Empty if `data` is malformed.
std::optional<LeaderRecord> ParseLeader(std::string_view data);

/// Tells the leader of an election, now and after each change. Owner, lifetime and thread as for
/// DataWatch.
class LeaderWatch {
 public:
  /// Empty: nobody leads now.
  using LeaderCallback = std::function<void(const std::optional<Leader>&)>;

  /// `path`: the election's, as in Election::Options.
  LeaderWatch(Coordination* coordination, const std::string& path, LeaderCallback callback);

 private:
  DataWatch watch_;
};

}  // namespace houtu::coordination
