#include "agent/partitions/job_registry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "houtu/v1/lease.pb.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnded = ".ended";

}  // namespace

absl::Status JobRegistry::Record(const std::string& job, const JobOwner& owner) const {
  const fs::path path = root_ / (job + ".owner");
  if (access(path.c_str(), F_OK) == 0) {
    return absl::OkStatus();
  }
  HOUTU_RETURN_IF_ERROR(MakeFolders(root_));
  // Leases of one job are recorded side by side: each writes a file of its own, and the last rename
  // wins over the same content.
  static std::atomic<int> next = 0;
  const fs::path fresh = root_ / (job + "." + std::to_string(++next) + ".new");
  HOUTU_RETURN_IF_ERROR(RemoveTree(fresh));
  {
    v1::Lease record;  // the fields of a lease that say whose it is
    record.set_job(job);
    record.set_account(owner.account);
    record.set_token_sha256(owner.token_sha256);
    HOUTU_ASSIGN_OR_RETURN(const Fd fd, CreateFile(fresh));
    HOUTU_RETURN_IF_ERROR(Annotate(WriteAll(fd.get(), record.SerializeAsString()), path.native()));
  }
  return rename(fresh.c_str(), path.c_str()) == 0 ? absl::OkStatus()
                                                  : ErrnoError(errno, path.native());
}

std::optional<JobOwner> JobRegistry::Find(const std::string& job) const {
  std::ifstream in(root_ / (job + ".owner"), std::ios::binary);
  v1::Lease record;
  if (job.find('/') != std::string::npos || !in || !record.ParseFromIstream(&in)) {
    return std::nullopt;
  }
  return JobOwner{.account = record.account(), .token_sha256 = record.token_sha256()};
}

absl::Status JobRegistry::MarkEnded(const std::string& job) const {
  HOUTU_RETURN_IF_ERROR(MakeFolders(root_));
  const fs::path path = root_ / (job + std::string(kEnded));
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return fd.valid() ? absl::OkStatus() : ErrnoError(errno, path.native());
}

std::vector<std::string> JobRegistry::EndedBefore(absl::Time before) const {
  std::vector<std::string> jobs;
  std::error_code error;
  for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    struct stat st;
    if (name.ends_with(kEnded) && stat(it->path().c_str(), &st) == 0 &&
        absl::TimeFromTimespec(st.st_mtim) < before) {
      jobs.push_back(name.substr(0, name.size() - kEnded.size()));
    }
  }
  return jobs;
}

void JobRegistry::Remove(const std::string& job) const {
  // The mark goes last: a removal that is cut short is done again.
  unlink((root_ / (job + ".owner")).c_str());
  unlink((root_ / (job + std::string(kEnded))).c_str());
}

}  // namespace houtu::agent
