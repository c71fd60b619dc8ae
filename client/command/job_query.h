// houtu job list, show, events, cancel.
#pragma once

#include <string>

#include "client/command/console.h"
#include "client/command/session.h"

namespace houtu::client {

struct JobListOptions {
  /// Ended jobs too.
  bool all = false;
  /// Jobs shown at most; 0: all.
  int limit = 0;
};
ExitStatus JobList(const Console& console, Session* session, const JobListOptions& options);

/// `with_tasks`: tasks too (they always stand in -o json and yaml).
ExitStatus JobShow(const Console& console, Session* session, const std::string& job,
                   bool with_tasks);
ExitStatus JobEvents(const Console& console, Session* session, const std::string& job);
ExitStatus JobCancel(const Console& console, Session* session, const std::string& job);

}  // namespace houtu::client
