// JobIndex: which jobs there are: ids, names and owners, for look-ups by id, unique prefix or name.
// Read from ZooKeeper once each (a job's record never changes) and kept.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/coordination/blocking.h"
#include "common/records/paths.h"
#include "common/rpc/identity.h"
#include "houtu/v1/record.pb.h"

namespace houtu::master {

/// Thread-safe. Calls block on ZooKeeper: for workers.
class JobIndex {
 public:
  struct Entry {
    std::string id;
    std::string name;
    std::string account;
  };

  explicit JobIndex(RecordPaths paths) : paths_(std::move(paths)) {}

  /// Reads the names of all jobs, and the records of those not known yet.
  absl::Status Refresh(const coordination::BlockingCoordination& store);

  /// The id that `text` means for `caller`: an id, a unique prefix of one, or a name (the newest
  /// job of it). NOT_FOUND; FAILED_PRECONDITION: a prefix of several, listed. Jobs of others are
  /// not found.
  absl::StatusOr<std::string> Resolve(const coordination::BlockingCoordination& store,
                                      const std::string& text, const Identity& caller);

  /// Ids that `caller` may see, newest first.
  std::vector<std::string> Visible(const Identity& caller) const;

 private:
  absl::StatusOr<std::string> Find(const std::string& text, const Identity& caller) const;

  const RecordPaths paths_;
  /// Held for a whole Refresh: an older list of names must not remove what a newer one added.
  std::mutex refreshing_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> jobs_;
};

}  // namespace houtu::master
