// Where each record of proto/houtu/v1/record.proto lies in ZooKeeper; the only place that spells
// paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace houtu {

/// Paths within a session whose own root is the configuration's ("/houtu/v1": the coordination adds
/// it), so `root` is only for tests that share a store. A value; copy it freely.
class RecordPaths {
 public:
  explicit RecordPaths(std::string root = "") : root_(std::move(root)) {}

  std::string Datacenters() const { return root_ + "/datacenters"; }
  std::string Datacenter(std::string_view dc) const { return Join(Datacenters(), dc); }
  /// The election's node: common/coordination/election.h puts its nodes below.
  std::string MasterElection(std::string_view dc) const { return Datacenter(dc) + "/master"; }

  std::string Jobs() const { return root_ + "/jobs"; }
  std::string Job(std::string_view job) const { return Join(Jobs(), job); }
  std::string State(std::string_view job) const { return Job(job) + "/state"; }
  std::string Status(std::string_view job) const { return Job(job) + "/status"; }
  std::string Running(std::string_view job) const { return Job(job) + "/running"; }
  std::string Cancel(std::string_view job) const { return Job(job) + "/cancel"; }
  std::string Managers(std::string_view job) const { return Job(job) + "/managers"; }
  std::string Manager(std::string_view job, std::string_view dc) const {
    return Join(Managers(job), dc);
  }
  std::string Stages(std::string_view job) const { return Job(job) + "/stages"; }
  std::string Stage(std::string_view job, std::string_view stage) const {
    return Join(Stages(job), stage);
  }
  std::string Assignment(std::string_view job, std::string_view stage, std::string_view dc,
                         int chunk) const;
  std::string Finished(std::string_view job, std::string_view stage, std::string_view dc,
                       int chunk) const;
  std::string Events(std::string_view job, std::string_view dc, int number) const;

  /// Exists while the job has not ended.
  std::string AllActive() const { return root_ + "/active"; }
  std::string Active(std::string_view job) const { return Join(AllActive(), job); }

  std::string Accounts() const { return root_ + "/accounts"; }
  std::string Account(std::string_view account) const { return Join(Accounts(), account); }

 private:
  static std::string Join(std::string folder, std::string_view name) {
    return folder.append("/").append(name);
  }
  std::string root_;
};

/// A chunk's or an events record's name, read back: "f-dc1-12" is {'f', "dc1", 12}.
struct ChunkName {
  /// 'a': assignment, 'f': finished, 'e': events ("events-dc1-3").
  char kind = 0;
  std::string datacenter;
  int number = 0;
};

/// Empty: another kind of node.
std::optional<ChunkName> ParseChunkName(std::string_view name);

}  // namespace houtu
