// JobRegistry: whose the jobs are whose data lies here, and which of them have ended.
//
//   <root>/<job>.owner   account and the token's checksum; written with the job's first lease
//   <root>/<job>.ended   made when the master says that the job ended; its age is the retention's
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace houtu::agent {

struct JobOwner {
  std::string account;
  /// SHA-256 of the job's token, 32 bytes.
  std::string token_sha256;
};

/// Owner: the agent's shell. Thread-safe: it holds nothing but a path.
class JobRegistry {
 public:
  explicit JobRegistry(std::filesystem::path root) : root_(std::move(root)) {}

  /// OK if it is recorded already. As ErrnoError says.
  absl::Status Record(const std::string& job, const JobOwner& owner) const;
  /// nullopt: no lease of the job was ever here, or its retention is over.
  std::optional<JobOwner> Find(const std::string& job) const;
  /// The retention begins; again: it goes on.
  absl::Status MarkEnded(const std::string& job) const;
  /// The jobs that ended before `before`.
  std::vector<std::string> EndedBefore(absl::Time before) const;
  void Remove(const std::string& job) const;

 private:
  std::filesystem::path root_;
};

}  // namespace houtu::agent
