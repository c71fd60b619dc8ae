// RunProgram: another program, run to its end with a deadline (runc, umoci, criu).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace houtu::agent {

struct ProgramSpec {
  /// argv[0] is looked up in PATH unless it holds a "/".
  std::vector<std::string> argv;
  /// NAME=value pairs that rule over the agent's own environment.
  std::vector<std::string> env;
  absl::Duration deadline = absl::Seconds(30);
  /// false: its outputs are /dev/null. For a program whose children live on with its descriptors.
  bool capture = true;
};

struct ProgramResult {
  /// 0 to 255, or 128 + the signal that ended it.
  int exit_status = 0;
  /// Standard output and error, the first 64 KiB of each.
  std::string output;
  std::string errors;
};

/// Blocks until it ends. Thread-safe; by posix_spawn, which costs the same for a big process as for
/// a small one. NOT_FOUND: no such program. DEADLINE_EXCEEDED: it was killed at its deadline.
absl::StatusOr<ProgramResult> RunProgram(const ProgramSpec& spec);

/// As RunProgram, but a non-zero exit is an INTERNAL error with the first line of what it said.
absl::StatusOr<std::string> RunProgramOk(const ProgramSpec& spec);

}  // namespace houtu::agent
