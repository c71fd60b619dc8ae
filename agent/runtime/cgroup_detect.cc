#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/str_split.h"
#include "agent/runtime/cgroup.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNeededV1[] = {"cpu", "cpuacct", "memory", "pids"};

/// What /proc/self/mountinfo says of cgroup hierarchies.
struct Mounts {
  std::optional<fs::path> v2;
  std::map<std::string, fs::path> v1;
};

/// A line: id parent dev root MOUNT options … - FSTYPE source SUPER-OPTIONS
void AddLine(const std::string& line, Mounts& mounts) {
  const std::vector<std::string> halves = absl::StrSplit(line, " - ");
  if (halves.size() != 2) return;
  const std::vector<std::string> before = absl::StrSplit(halves[0], ' ');
  const std::vector<std::string> after = absl::StrSplit(halves[1], ' ');
  if (before.size() < 5 || after.size() < 3) return;
  if (after[0] == "cgroup2") mounts.v2 = before[4];
  if (after[0] != "cgroup") return;
  const std::vector<std::string> options = absl::StrSplit(after[2], ',');
  for (const std::string& option : options) mounts.v1.emplace(option, before[4]);
}

bool HasMemory(const fs::path& v2) {
  const absl::StatusOr<std::string> text = ReadSmallFile(v2 / "cgroup.controllers");
  if (!text.ok()) return false;
  const std::vector<std::string> words = absl::StrSplit(*text, absl::ByAnyChar(" \n"));
  return std::find(words.begin(), words.end(), "memory") != words.end();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Cgroups>> Cgroups::Detect() {
  Mounts mounts;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) AddLine(line, mounts);
  if (mounts.v2 && HasMemory(*mounts.v2)) return MakeCgroupsV2(*mounts.v2);
  std::map<std::string, fs::path> needed;
  for (const char* controller : kNeededV1) {
    const auto it = mounts.v1.find(controller);
    if (it == mounts.v1.end()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "no cgroup controller \"{}\" is mounted; mount cgroup2 at /sys/fs/cgroup",
                   controller);
    }
    needed.emplace(*it);
  }
  return MakeCgroupsV1(std::move(needed));
}

}  // namespace houtu::agent
