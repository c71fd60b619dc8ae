// The agent's work folder.
//
//   leases/<lease>/            see agent/runtime/lease_folder.h (io, run) and lease_records.h
//   (records)
//     staging/                 inputs on their way into a task's folder; no container sees it
//   partitions/ logs/ jobs/    committed outputs, kept logs, whose the jobs are
//   bin/houtu-jobmanager       hard-linked into job managers' containers
//   terms                      the newest terms obeyed
//   probe                      written and deleted to see whether the disk works
#pragma once

#include <filesystem>
#include <string>

#include "agent/runtime/lease_folder.h"
#include "common/base/ids.h"

namespace houtu::agent {

/// Names of files, no more.
class WorkPaths {
 public:
  explicit WorkPaths(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path leases() const { return root_ / "leases"; }
  std::filesystem::path lease(const std::string& id) const { return leases() / id; }
  std::filesystem::path task(const std::string& lease_id, const AttemptKey& key) const {
    return LeaseFolder(lease(lease_id)).task(key);
  }
  std::filesystem::path staging(const std::string& lease_id, const AttemptKey& key) const {
    return lease(lease_id) / "staging" / FolderName(key);
  }
  std::filesystem::path partitions() const { return root_ / "partitions"; }
  std::filesystem::path logs() const { return root_ / "logs"; }
  std::filesystem::path jobs() const { return root_ / "jobs"; }
  std::filesystem::path manager_program() const { return root_ / "bin" / "houtu-jobmanager"; }
  std::filesystem::path terms() const { return root_ / "terms"; }
  std::filesystem::path probe() const { return root_ / "probe"; }

 private:
  std::filesystem::path root_;
};

}  // namespace houtu::agent
