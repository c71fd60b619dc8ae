#include "agent/runtime/runc_command.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "agent/runtime/small_file.h"
#include "agent/runtime/subprocess.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kVersionLimit = absl::Seconds(10);

/// The first error of runc's log (a JSON object a line), or what else tells why.
std::string FirstError(const fs::path& log, int exit_status) {
  const absl::StatusOr<std::string> text = ReadSmallFile(log);
  for (const auto line : absl::StrSplit(text.ok() ? *text : std::string(), '\n')) {
    const auto entry = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (entry.is_object() && entry.value("level", "") == "error") return entry.value("msg", "");
  }
  return fmt::format("exit status {}", exit_status);
}

}  // namespace

absl::StatusOr<std::string> RuncCommand::Version() const {
  const absl::StatusOr<std::string> text =
      RunProgramOk({.argv = {runc_, "--version"}, .deadline = kVersionLimit});
  if (!text.ok()) {
    return Error(absl::StatusCode::kFailedPrecondition, "runc does not work: {}",
                 Message(text.status()));
  }
  const std::string line = text->substr(0, text->find('\n'));
  return line.substr(line.rfind(' ') + 1);
}

absl::StatusOr<pid_t> RuncCommand::Run(const std::string& id, const fs::path& bundle) const {
  const fs::path log = bundle / "runc.log";
  const fs::path pid_file = bundle / "pid";
  std::error_code ignored;
  fs::remove(log, ignored);
  fs::remove(pid_file, ignored);
  // Nothing is captured: the container's first process lives on with runc's descriptors.
  HOUTU_ASSIGN_OR_RETURN(
      const ProgramResult result,
      RunProgram({.argv = {runc_, "--root", state_dir_.native(), "--log", log.native(),
                           "--log-format", "json", "run", "--detach", "--bundle", bundle.native(),
                           "--pid-file", pid_file.native(), id},
                  .deadline = limit_,
                  .capture = false}));
  if (result.exit_status != 0) {
    return Error(absl::StatusCode::kInternal, "runc: {}", FirstError(log, result.exit_status));
  }
  HOUTU_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(pid_file));
  pid_t pid = 0;
  if (!absl::SimpleAtoi(text, &pid) || pid <= 0) {
    return Error(absl::StatusCode::kInternal, "runc: {}: no pid", pid_file.native());
  }
  return pid;
}

absl::Status RuncCommand::Delete(const std::string& id) const {
  if (!Knows(id)) return absl::OkStatus();
  const absl::Status status =
      RunProgramOk({.argv = {runc_, "--root", state_dir_.native(), "delete", "--force", id},
                    .deadline = limit_})
          .status();
  if (!status.ok()) return status;
  // A runc that was killed at its work leaves a folder that it does not take for a container.
  std::error_code error;
  fs::remove_all(state_dir_ / id, error);
  return error ? ErrnoError(error.value(), (state_dir_ / id).native()) : absl::OkStatus();
}

bool RuncCommand::Knows(const std::string& id) const {
  std::error_code ignored;
  return fs::exists(state_dir_ / id, ignored);
}

}  // namespace houtu::agent
