#include "client/command/job_run.h"

#include <fmt/format.h>

#include "client/command/job_file.h"
#include "client/command/job_wait.h"
#include "client/text/safe_text.h"
#include "client/view/job_view.h"
#include "common/base/ids.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

/// Whether the job may be safe although no answer came.
bool OutcomeUnknown(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kCancelled;
}

ExitStatus FailSubmit(const Console& console, const absl::Status& status, const std::string& id) {
  const std::string hint = OutcomeUnknown(status)
                               ? fmt::format("; it may have been accepted: houtu job show {}", id)
                               : std::string();
  return console.Fail(absl::Status(status.code(), Message(status) + hint), Purpose::kSubmit,
                      {{"job", id}});
}

void PrintAccepted(const Console& console, const RunOptions& options,
                   const v1::SubmitJobResponse& response) {
  const v1::JobStatus& status = response.status();
  if (options.id_only || console.format == Format::kName) {
    *console.out << status.id() << "\n" << std::flush;
  } else if (!console.IsStructured()) {
    *console.out << "submitted " << JobTitle(status) << "\n" << std::flush;
  } else if (!options.wait && !options.follow) {
    console.PrintMessage(response);
  }
}

ExitStatus Wait(const Console& console, Session* session, const RunOptions& options,
                v1::SubmitJobResponse* response) {
  const std::string id = response->status().id();
  const ExitStatus exit =
      WaitForJob(console, session, id, {.timeout = options.timeout, .follow = options.follow},
                 response->mutable_status());
  if (console.IsStructured() && !options.id_only) {
    console.PrintMessage(*response);
  } else if (!options.id_only && console.format != Format::kName) {
    PrintEnd(console, response->status());
  }
  return exit;
}

}  // namespace

ExitStatus JobRun(const Console& console, const OpenSession& open, const RunOptions& options) {
  v1::SubmitJobRequest request;
  const auto problems = LoadJobFile(options.file, options.overrides, request.mutable_job());
  if (!problems.empty()) {
    return console.FailProblems(options.file, problems);
  }
  if (options.dry_run) {
    if (console.IsStructured()) {
      console.PrintMessage(request.job());
    } else {
      console.Note(fmt::format("{}: valid; nothing was sent", options.file));
    }
    return ExitStatus::kDone;
  }
  const std::unique_ptr<Session> session = open();
  if (session == nullptr) {
    return ExitStatus::kBadUsage;
  }
  // Made once: however often it is sent, it is one job (C15).
  request.set_job_id(NewJobId());
  absl::StatusOr<v1::SubmitJobResponse> response = session->masters().SubmitJob(request);
  if (!response.ok()) {
    return FailSubmit(console, response.status(), request.job_id());
  }
  for (const std::string& warning : response->warnings()) {
    console.Note("warning: " + warning);
  }
  PrintAccepted(console, options, *response);
  return options.wait || options.follow ? Wait(console, session.get(), options, &*response)
                                        : ExitStatus::kDone;
}

ExitStatus JobValidate(const Console& console, const std::string& file,
                       const std::vector<std::string>& overrides) {
  v1::Job job;
  const auto problems = LoadJobFile(file, overrides, &job);
  if (!problems.empty()) {
    return console.FailProblems(file, problems);
  }
  if (console.IsStructured()) {
    console.PrintMessage(job);
  } else {
    *console.out << SafeLine(file) << ": valid\n";
  }
  return ExitStatus::kDone;
}

}  // namespace houtu::client
