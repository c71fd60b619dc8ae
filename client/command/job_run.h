// houtu job run (houtu-submit), houtu job validate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/command/console.h"
#include "client/command/session.h"

namespace houtu::client {

struct RunOptions {
  std::string file;
  /// --set, then --bid and --budget as "bid=…".
  std::vector<std::string> overrides;
  bool dry_run = false;
  /// stdout gets the job's id and nothing else.
  bool id_only = false;
  bool wait = false;
  /// As wait, with every change told as a line.
  bool follow = false;
  absl::Duration timeout = absl::InfiniteDuration();
};

/// Makes the session when the file is known to be good; null: the console was told why.
using OpenSession = std::function<std::unique_ptr<Session>()>;

ExitStatus JobRun(const Console& console, const OpenSession& open, const RunOptions& options);

/// Offline.
ExitStatus JobValidate(const Console& console, const std::string& file,
                       const std::vector<std::string>& overrides);

}  // namespace houtu::client
