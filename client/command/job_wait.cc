#include "client/command/job_wait.h"

#include <fmt/format.h>

#include "absl/time/clock.h"
#include "client/text/safe_text.h"
#include "client/text/units.h"
#include "client/view/job_view.h"
#include "client/view/progress.h"
#include "common/base/status.h"
#include "common/yaml/json.h"

namespace houtu::client {
namespace {

/// Bars where stderr is a terminal, lines elsewhere, both with --follow.
class ProgressPrinter {
 public:
  ProgressPrinter(const Console& console, bool follow)
      : console_(console),
        follow_(follow),
        bars_({.width = console.err_width, .colour = console.colour}) {}

  void Show(const v1::JobStatus& status) {
    const absl::Time now = absl::Now();
    std::string text;
    if (!console_.err_is_terminal) {
      text = lines_.Update(status, now);
    } else {
      text = bars_.Erase() + (follow_ ? lines_.Update(status, now) : "") + bars_.Draw(status, now);
    }
    *console_.err << text << std::flush;
  }

 private:
  const Console& console_;
  const bool follow_;
  ProgressBars bars_;
  ProgressLines lines_;
};

std::string GoesOn(const v1::JobStatus& status, const std::string& job) {
  const std::string& name = status.id().empty() ? job : status.id();
  return fmt::format(
      "job {} goes on; see it: houtu job show {}; wait for it: houtu job wait {}; "
      "end it: houtu job cancel {}",
      name, name, name, name);
}

}  // namespace

ExitStatus WaitForJob(const Console& console, Session* session, const std::string& job,
                      const WaitOptions& options, v1::JobStatus* last) {
  ProgressPrinter progress(console, options.follow);
  const absl::StatusOr<WatchEnd> end = session->masters().WatchJob(
      job, absl::Now() + options.timeout, [&](const v1::JobStatus& status) {
        *last = status;
        progress.Show(status);
      });
  const std::map<std::string, std::string> details = {
      {"job", last->id().empty() ? job : last->id()}};
  if (!end.ok() && end.status().code() == absl::StatusCode::kCancelled) {
    return console.Fail(absl::CancelledError("interrupted; " + GoesOn(*last, job)), Purpose::kOther,
                        details);
  }
  if (!end.ok()) {
    return console.Fail(end.status(), Purpose::kOther, details);
  }
  if (*end == WatchEnd::kTimeout) {
    console.Fail(Error(absl::StatusCode::kDeadlineExceeded, "not ended after {}; {}",
                       HumanDuration(options.timeout), GoesOn(*last, job)),
                 Purpose::kOther, details);
    return ExitStatus::kTimeout;
  }
  return ExitStatusOf(last->state());
}

void PrintEnd(const Console& console, const v1::JobStatus& status) {
  if (IsEnded(status.state())) {
    const std::string message = status.message().empty() ? "" : ": " + SafeLine(status.message());
    *console.out << JobTitle(status) << " " << ShortName(status.state()) << message << "\n";
  }
}

ExitStatus JobWait(const Console& console, Session* session, const std::string& job,
                   const WaitOptions& options) {
  v1::JobStatus last;
  const ExitStatus exit = WaitForJob(console, session, job, options, &last);
  if (last.id().empty()) {
    return exit;
  }
  if (console.IsStructured()) {
    console.PrintJson(fmt::format(R"({{"status":{}}})", yaml::ToJson(last)));
  } else if (console.format == Format::kName) {
    *console.out << last.id() << "\n";
  } else {
    PrintEnd(console, last);
  }
  return exit;
}

}  // namespace houtu::client
