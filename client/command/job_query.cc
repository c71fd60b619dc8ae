#include "client/command/job_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "absl/time/clock.h"
#include "client/command/pages.h"
#include "client/text/units.h"
#include "client/view/job_view.h"
#include "common/base/status.h"
#include "common/yaml/json.h"

namespace houtu::client {
namespace {

constexpr int kJobsPerPage = 500;

absl::StatusOr<v1::ListJobsResponse> AllJobs(Session* session, const JobListOptions& options) {
  v1::ListJobsRequest request;
  request.set_all(options.all);
  request.set_page_size(options.limit > 0 ? std::min(options.limit, kJobsPerPage) : kJobsPerPage);
  v1::ListJobsResponse all;
  do {
    HOUTU_ASSIGN_OR_RETURN(v1::ListJobsResponse page, session->masters().ListJobs(request));
    request.set_page_token(page.next_page_token());
    all.mutable_jobs()->MergeFrom(page.jobs());
  } while (!request.page_token().empty() &&
           (options.limit == 0 || all.jobs_size() < options.limit));
  if (options.limit > 0 && all.jobs_size() > options.limit) {
    all.mutable_jobs()->DeleteSubrange(options.limit, all.jobs_size() - options.limit);
  }
  return all;
}

std::string ShowJson(const v1::GetJobResponse& job, const std::vector<v1::TaskStatus>& tasks) {
  std::vector<std::string> items;
  for (const v1::TaskStatus& task : tasks) {
    items.push_back(yaml::ToJson(task));
  }
  return fmt::format(R"({{"status":{},"job":{},"tasks":{}}})", yaml::ToJson(job.status()),
                     yaml::ToJson(job.job()), JsonList(items));
}

}  // namespace

ExitStatus JobList(const Console& console, Session* session, const JobListOptions& options) {
  const absl::StatusOr<v1::ListJobsResponse> all = AllJobs(session, options);
  if (!all.ok()) {
    return console.Fail(all.status());
  }
  if (console.IsStructured()) {
    console.PrintMessage(*all);
  } else if (console.format == Format::kName) {
    for (const v1::JobStatus& job : all->jobs()) {
      *console.out << job.id() << "\n";
    }
  } else {
    const std::vector<v1::JobStatus> jobs(all->jobs().begin(), all->jobs().end());
    *console.out << JobTable(jobs, console.format == Format::kWide, absl::Now());
  }
  return ExitStatus::kDone;
}

ExitStatus JobShow(const Console& console, Session* session, const std::string& job,
                   bool with_tasks) {
  v1::GetJobRequest request;
  request.set_job(job);
  const absl::StatusOr<v1::GetJobResponse> found = session->masters().GetJob(request);
  if (!found.ok()) {
    return console.Fail(found.status());
  }
  if (console.format == Format::kName) {
    *console.out << found->status().id() << "\n";
    return ExitStatus::kDone;
  }
  absl::StatusOr<std::vector<v1::TaskStatus>> tasks = std::vector<v1::TaskStatus>();
  if (with_tasks || console.IsStructured()) {
    tasks = AllTasks(&session->masters(), found->status().id(), "");
    if (!tasks.ok()) {
      return console.Fail(tasks.status());
    }
  }
  if (console.IsStructured()) {
    console.PrintJson(ShowJson(*found, *tasks));
  } else {
    *console.out << JobDetails(found->status(), *tasks, absl::Now());
  }
  return ExitStatus::kDone;
}

ExitStatus JobEvents(const Console& console, Session* session, const std::string& job) {
  v1::ListEventsRequest request;
  request.set_job(job);
  const absl::StatusOr<v1::ListEventsResponse> response = session->masters().ListEvents(request);
  if (!response.ok()) {
    return console.Fail(response.status());
  }
  if (console.IsStructured()) {
    console.PrintMessage(*response);
  } else {
    const std::vector<v1::JobEvent> events(response->events().begin(), response->events().end());
    *console.out << EventTable(events);
  }
  return ExitStatus::kDone;
}

ExitStatus JobCancel(const Console& console, Session* session, const std::string& job) {
  v1::CancelJobRequest request;
  request.set_job(job);
  const absl::StatusOr<v1::CancelJobResponse> response = session->masters().CancelJob(request);
  if (!response.ok()) {
    return console.Fail(response.status());
  }
  const v1::JobStatus& status = response->status();
  if (console.IsStructured()) {
    console.PrintMessage(*response);
  } else if (console.format == Format::kName) {
    *console.out << status.id() << "\n";
  } else {
    *console.out << JobTitle(status) << " " << ShortName(status.state()) << "\n";
  }
  return ExitStatus::kDone;
}

}  // namespace houtu::client
