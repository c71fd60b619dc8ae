#include "client/command/job_logs.h"

#include <fmt/format.h>

#include <vector>

#include "client/command/pages.h"
#include "client/logs/task_log.h"
#include "client/text/safe_text.h"
#include "common/base/status.h"

namespace houtu::client {
namespace {

/// Where log bytes go: as they are, or made safe.
class LogWriter {
 public:
  explicit LogWriter(const Console& console) : console_(console) {}

  void Write(std::string_view data) {
    *console_.out << (console_.out_is_terminal ? safe_.Feed(data) : std::string(data))
                  << std::flush;
  }
  /// A task's or an attempt's log is over.
  void Finish() { *console_.out << safe_.Finish() << std::flush; }

 private:
  const Console& console_;
  SafeTextStream safe_;
};

absl::StatusOr<std::string> JobId(Session* session, const std::string& job) {
  v1::GetJobRequest request;
  request.set_job(job);
  HOUTU_ASSIGN_OR_RETURN(const v1::GetJobResponse response, session->masters().GetJob(request));
  return response.status().id();
}

struct Chosen {
  std::string stage;
  int task = 0;
};

/// The tasks meant; those that have not started are left out where several are.
absl::StatusOr<std::vector<Chosen>> Choose(Session* session, const std::string& job_id,
                                           const LogTarget& target) {
  if (target.task.has_value()) {
    return std::vector<Chosen>{{target.stage, *target.task}};
  }
  HOUTU_ASSIGN_OR_RETURN(const std::vector<v1::TaskStatus> tasks,
                         AllTasks(&session->masters(), job_id, target.stage));
  std::vector<Chosen> chosen;
  for (const v1::TaskStatus& task : tasks) {
    if (tasks.size() == 1 || task.attempt() > 0) {
      chosen.push_back({task.stage(), task.task()});
    }
  }
  return chosen;
}

absl::Status ReadAll(const Console& console, Session* session, const LogsOptions& options) {
  HOUTU_ASSIGN_OR_RETURN(const std::string job_id, JobId(session, options.target.job));
  HOUTU_ASSIGN_OR_RETURN(const std::vector<Chosen> chosen, Choose(session, job_id, options.target));
  if (options.follow && chosen.size() != 1) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "--follow takes one task, this is {}; name it: JOB/STAGE/TASK", chosen.size());
  }
  LogWriter writer(console);
  TaskLog log(&session->masters(), &session->agents(), &session->interrupt(),
              {.data = [&](std::string_view data) { writer.Write(data); },
               .note = [&](const std::string& note) { console.Note("-- " + note); }});
  for (const Chosen& task : chosen) {
    if (chosen.size() > 1) {
      console.Note(fmt::format("==> {}/{} <==", task.stage, task.task));
    }
    const absl::Status read = log.Read(job_id, task.stage, task.task, options.follow, options.tail);
    writer.Finish();
    HOUTU_RETURN_IF_ERROR(read);
  }
  return absl::OkStatus();
}

}  // namespace

ExitStatus JobLogs(const Console& console, Session* session, const LogsOptions& options) {
  const absl::Status status = ReadAll(console, session, options);
  return status.ok() ? ExitStatus::kDone : console.Fail(status);
}

}  // namespace houtu::client
