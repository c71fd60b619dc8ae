#include "agent/service/lease_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "agent/partitions/files.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpecSuffix = ".spec";

absl::Status WriteRecord(const fs::path& path, const google::protobuf::MessageLite& message) {
  return WriteWholeFile(path, message.SerializeAsString());
}

/// False: not there, or not what it should be.
bool ReadRecord(const fs::path& path, google::protobuf::MessageLite* message) {
  std::ifstream in(path, std::ios::binary);
  return in && message->ParseFromIstream(&in);
}

}  // namespace

absl::Status LeaseRecords::WriteLease(const v1::StartLease& start) const {
  // 0700: it holds a job manager's token.
  const fs::path records = Records(start.lease().id());
  HOUTU_RETURN_IF_ERROR(MakeFolders(records));
  if (chmod(records.c_str(), 0700) != 0) {
    return ErrnoError(errno, records.native());
  }
  return WriteRecord(records / "lease", start);
}

absl::Status LeaseRecords::WriteContainer(const std::string& lease_id,
                                          const ContainerShape& shape) const {
  v1::Lease record;
  record.set_image(shape.image);
  record.set_network(shape.network);
  return WriteRecord(Records(lease_id) / "container", record);
}

absl::Status LeaseRecords::WriteLeaseEnd(const v1::LeaseReport& report) const {
  return WriteRecord(Records(report.lease().id()) / "end", report);
}

absl::Status LeaseRecords::WriteSpec(const v1::TaskSpec& spec) const {
  return WriteRecord(Records(spec.lease_id()) / (FolderName(KeyOf(spec.id())) + ".spec"), spec);
}

absl::Status LeaseRecords::WriteAttemptEnd(const v1::TaskReport& report) const {
  return WriteRecord(Records(report.lease_id()) / (FolderName(KeyOf(report.id())) + ".end"),
                     report);
}

void LeaseRecords::RemoveAttempt(const std::string& lease_id, const AttemptKey& key) const {
  // The spec goes first: an end alone means nothing, a spec alone would be run again.
  const fs::path base = Records(lease_id) / FolderName(key);
  unlink((base.native() + ".spec").c_str());
  unlink((base.native() + ".end").c_str());
}

absl::Status LeaseRecords::WriteTerms(const Terms& terms) const {
  std::string text = fmt::format("master {}\n", terms.master);
  for (const auto& [job, term] : terms.managers) {
    text += fmt::format("manager {} {}\n", job, term);
  }
  return WriteWholeFile(paths_.terms(), text);
}

absl::StatusOr<Terms> LeaseRecords::ReadTerms() const {
  std::ifstream in(paths_.terms());
  Terms terms;
  std::string line;
  while (in && std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    std::string job;
    words >> kind;
    if (kind == "master") {
      words >> terms.master;
    } else if (kind == "manager") {
      words >> job >> terms.managers[job];
    }
    if (!words || job.find('/') != std::string::npos) {
      return Error(absl::StatusCode::kDataLoss, "{}: not a line of terms: {}",
                   paths_.terms().native(), LogValue(line));
    }
  }
  return terms;
}

absl::StatusOr<LeaseRecords::Found> LeaseRecords::Scan() const {
  Found found;
  std::error_code error;
  std::vector<std::string> ids;
  for (fs::directory_iterator it(paths_.leases(), error), end; !error && it != end;
       it.increment(error)) {
    ids.push_back(it->path().filename().native());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError(error.value(), paths_.leases().native());
  }
  std::sort(ids.begin(), ids.end());
  for (const std::string& id : ids) {
    if (absl::StatusOr<RecoveredLease> lease = ReadLease(id); lease.ok()) {
      found.leases.push_back(std::move(*lease));
    } else {
      found.unknown.push_back(id);
    }
  }
  return found;
}

absl::StatusOr<RecoveredLease> LeaseRecords::ReadLease(const std::string& lease_id) const {
  const fs::path records = Records(lease_id);
  RecoveredLease lease;
  if (!ReadRecord(records / "lease", &lease.start) || lease.start.lease().id() != lease_id) {
    return Error(absl::StatusCode::kNotFound, "lease {} was never recorded", lease_id);
  }
  if (v1::Lease container; ReadRecord(records / "container", &container)) {
    lease.container = ShapeOf(container.image(), container.network());
  }
  if (v1::LeaseReport end; ReadRecord(records / "end", &end)) {
    lease.end = std::move(end);
  }
  std::error_code error;
  for (fs::directory_iterator it(records, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    RecoveredAttempt attempt;
    if (!name.ends_with(kSpecSuffix) || !ReadRecord(it->path(), &attempt.spec)) {
      continue;
    }
    const std::string base = name.substr(0, name.size() - kSpecSuffix.size());
    if (v1::TaskReport report; ReadRecord(records / (base + ".end"), &report)) {
      attempt.end = std::move(report);
    }
    lease.attempts.push_back(std::move(attempt));
  }
  std::sort(lease.attempts.begin(), lease.attempts.end(),
            [](const auto& a, const auto& b) { return KeyOf(a.spec.id()) < KeyOf(b.spec.id()); });
  return lease;
}

}  // namespace houtu::agent
