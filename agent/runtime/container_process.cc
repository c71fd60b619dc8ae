#include "agent/runtime/container_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/runtime/small_file.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";
/// Fields of /proc/<pid>/stat, counted from the one behind the program's name.
constexpr size_t kStateField = 0;
constexpr size_t kStartField = 19;

std::string BootId() {
  const absl::StatusOr<std::string> text = ReadSmallFile(kBootId);
  return text.ok() ? std::string(absl::StripSuffix(*text, "\n")) : std::string();
}

/// nullopt: no such process, or it has ended and waits to be reaped.
std::optional<int64_t> StartTicks(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadSmallFile(fmt::format("/proc/{}/stat", pid));
  if (!text.ok()) return std::nullopt;
  // The name in parentheses may itself hold spaces and parentheses.
  const size_t name_end = text->rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(text->substr(name_end + 2), ' ');
  int64_t ticks = 0;
  if (fields.size() <= kStartField || !absl::SimpleAtoi(fields[kStartField], &ticks)) {
    return std::nullopt;
  }
  const std::string& state = fields[kStateField];
  if (state == "Z" || state == "X") return std::nullopt;
  return ticks;
}

}  // namespace

absl::StatusOr<ContainerProcess> ContainerProcess::Of(std::string lease_id, pid_t pid) {
  const std::optional<int64_t> ticks = StartTicks(pid);
  if (!ticks) return Error(absl::StatusCode::kNotFound, "process {} has ended", pid);
  return ContainerProcess{
      .lease_id = std::move(lease_id), .pid = pid, .start_ticks = *ticks, .boot_id = BootId()};
}

absl::StatusOr<ContainerProcess> ContainerProcess::Read(const LeaseFolder& folder) {
  HOUTU_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(folder.container()));
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ContainerProcess process;
  if (lines.size() != 5 || !absl::SimpleAtoi(lines[1], &process.pid) || process.pid <= 0 ||
      !absl::SimpleAtoi(lines[2], &process.start_ticks)) {
    return Error(absl::StatusCode::kDataLoss, "{}: not understood", folder.container().native());
  }
  process.lease_id = lines[0];
  process.boot_id = lines[3];
  return process;
}

absl::Status ContainerProcess::Write(const LeaseFolder& folder) const {
  return WriteWholeFile(folder.container(),
                        fmt::format("{}\n{}\n{}\n{}\n", lease_id, pid, start_ticks, boot_id));
}

std::optional<int> ContainerProcess::Open() const {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return std::nullopt;
  // The descriptor pins whoever has the pid now; only then its start time says who that is.
  if (Runs()) return fd;
  close(fd);
  return std::nullopt;
}

bool ContainerProcess::Runs() const {
  return StartTicks(pid) == start_ticks && BootId() == boot_id;
}

}  // namespace houtu::agent
