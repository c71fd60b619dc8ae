// houtu job outputs: lists a job's result, or fetches it to DIR/<stage>/<task>/<name>.
#pragma once

#include <string>

#include "client/command/console.h"
#include "client/command/session.h"

namespace houtu::client {

struct OutputsOptions {
  /// Fetch to this folder; empty: list.
  std::string to;
  /// Empty: the job's output stages.
  std::string stage;
};

/// Fetching: kJobFailed where a file could not be had, kUnreachable where that is for a node that
/// can't be reached; each such file is named on stderr.
ExitStatus JobOutputs(const Console& console, Session* session, const std::string& job,
                      const OutputsOptions& options);

}  // namespace houtu::client
