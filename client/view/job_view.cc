#include "client/view/job_view.h"

#include <fmt/format.h>

#include "client/text/safe_text.h"
#include "client/text/table.h"
#include "client/text/units.h"

namespace houtu::client {
namespace {

using Align = Table::Align;

std::string Join(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ","));
}

/// "7/12": finished tasks of all; "7/?" while inputs are not listed.
std::string TaskCounts(const v1::JobStatus& job) {
  int64_t finished = 0;
  int64_t total = 0;
  bool known = true;
  for (const v1::StageStatus& stage : job.stages()) {
    finished += stage.tasks_finished();
    known = known && stage.tasks_total() >= 0;
    total += stage.tasks_total();
  }
  return known ? fmt::format("{}/{}", finished, total) : fmt::format("{}/?", finished);
}

std::string Total(const v1::StageStatus& stage) {
  return stage.tasks_total() < 0 ? "?" : fmt::format("{}", stage.tasks_total());
}

std::string StageTable(const v1::JobStatus& job, absl::Time now) {
  Table table({{"STAGE"},
               {"STATE"},
               {"TASKS", Align::kRight},
               {"WAITING", Align::kRight},
               {"RUNNING", Align::kRight},
               {"FINISHED", Align::kRight},
               {"FAILED", Align::kRight},
               {"LOST", Align::kRight},
               {"NOT STARTED", Align::kRight},
               {"TIME", Align::kRight}});
  for (const v1::StageStatus& stage : job.stages()) {
    table.Add({stage.name(), ShortName(stage.state()), Total(stage),
               fmt::format("{}", stage.tasks_waiting()), fmt::format("{}", stage.tasks_running()),
               fmt::format("{}", stage.tasks_finished()),
               fmt::format("{}", stage.attempts_failed()), fmt::format("{}", stage.attempts_lost()),
               fmt::format("{}", stage.starts_failed()),
               HumanSpan(stage.started_at(), stage.ended_at(), now)});
  }
  return table.Render();
}

std::string TransferTable(const v1::JobStatus& job) {
  Table table({{"FROM"}, {"TO"}, {"BYTES", Align::kRight}, {"SIZE", Align::kRight}});
  for (const v1::Transfer& transfer : job.transfers()) {
    table.Add({transfer.from_datacenter(), transfer.to_datacenter(),
               fmt::format("{}", transfer.bytes()), HumanBytes(transfer.bytes())});
  }
  return table.Render();
}

void AddLine(std::string_view key, const std::string& value, std::string* out) {
  if (!value.empty()) {
    *out += fmt::format("{:<13}{}\n", fmt::format("{}:", key), SafeLine(value));
  }
}

std::string Head(const v1::JobStatus& job, absl::Time now) {
  std::string out;
  AddLine("job", job.id(), &out);
  AddLine("name", job.name(), &out);
  AddLine("account", job.account(), &out);
  AddLine("state", ShortName(job.state()), &out);
  AddLine("message", job.message(), &out);
  AddLine("submitted", HumanTime(job.submitted_at()), &out);
  AddLine("started", HumanTime(job.started_at()), &out);
  AddLine("ended", HumanTime(job.ended_at()), &out);
  AddLine("time", HumanSpan(job.submitted_at(), job.ended_at(), now), &out);
  AddLine("datacenters", Join(job.datacenters()), &out);
  AddLine("primary", job.primary_datacenter(), &out);
  return out;
}

std::string EventPlace(const v1::JobEvent& event) {
  std::string place = event.stage();
  if (!event.stage().empty() && event.task() >= 0 && event.attempt() > 0) {
    place += fmt::format("/{}#{}", event.task(), event.attempt());
  }
  const std::string& node = event.node().empty() ? event.datacenter() : event.node();
  if (node.empty()) {
    return place;
  }
  return place.empty() ? node : place + " on " + node;
}

}  // namespace

bool IsEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_CANCELLED;
}

std::string JobTitle(const v1::JobStatus& status) {
  return fmt::format("{} ({})", SafeLine(status.name()), SafeLine(status.id()));
}

std::string JobTable(std::span<const v1::JobStatus> jobs, bool wide, absl::Time now) {
  std::vector<Table::Column> columns = {{"ID"},
                                        {"NAME"},
                                        {"ACCOUNT"},
                                        {"STATE"},
                                        {"TASKS", Align::kRight},
                                        {"SUBMITTED"},
                                        {"TIME", Align::kRight}};
  if (wide) {
    columns.insert(columns.end(), {{"DATACENTERS"}, {"PRIMARY"}, {"MESSAGE"}});
  }
  Table table(std::move(columns));
  for (const v1::JobStatus& job : jobs) {
    std::vector<std::string> row = {job.id(),
                                    job.name(),
                                    job.account(),
                                    ShortName(job.state()),
                                    TaskCounts(job),
                                    HumanTime(job.submitted_at()),
                                    HumanSpan(job.submitted_at(), job.ended_at(), now)};
    if (wide) {
      row.insert(row.end(), {Join(job.datacenters()), job.primary_datacenter(), job.message()});
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

std::string JobDetails(const v1::JobStatus& status, std::span<const v1::TaskStatus> tasks,
                       absl::Time now) {
  std::string out = Head(status, now);
  for (const auto& wait : status.waits()) {
    AddLine("waits", WaitLine(wait), &out);
  }
  if (status.stages_size() > 0) {
    out += "\n" + StageTable(status, now);
  }
  if (status.transfers_size() > 0) {
    out += "\n" + TransferTable(status);
  }
  if (!tasks.empty()) {
    out += "\n" + TaskTable(tasks, now);
  }
  return out;
}

std::string TaskTable(std::span<const v1::TaskStatus> tasks, absl::Time now) {
  Table table({{"STAGE"},
               {"TASK", Align::kRight},
               {"STATE"},
               {"DATACENTER"},
               {"NODE"},
               {"ATTEMPT", Align::kRight},
               {"TIME", Align::kRight},
               {"CPU", Align::kRight},
               {"MEMORY", Align::kRight},
               {"OUTPUT", Align::kRight},
               {"INPUT"}});
  for (const v1::TaskStatus& task : tasks) {
    const bool finished = task.state() == v1::TaskStatus::STATE_FINISHED;
    table.Add({task.stage(), fmt::format("{}", task.task()), ShortName(task.state()),
               task.datacenter(), task.node(), fmt::format("{}", task.attempt()),
               HumanSpan(task.started_at(), task.ended_at(), now),
               finished ? HumanDuration(absl::Milliseconds(task.cpu_used_ms())) : "",
               finished ? HumanBytes(task.memory_peak_bytes()) : "",
               finished ? HumanBytes(task.output_bytes()) : "", task.input()});
  }
  return table.Render();
}

std::string OutputTable(std::span<const v1::OutputFile> files) {
  Table table({{"STAGE"}, {"TASK", Align::kRight}, {"NAME"}, {"SIZE", Align::kRight}, {"NODE"}});
  for (const v1::OutputFile& file : files) {
    table.Add({file.stage(), fmt::format("{}", file.task()), file.name(),
               HumanBytes(file.size_bytes()), file.node()});
  }
  return table.Render();
}

std::string EventTable(std::span<const v1::JobEvent> events) {
  Table table({{"TIME"}, {"KIND"}, {"WHERE"}, {"MESSAGE"}});
  for (const v1::JobEvent& event : events) {
    table.Add({HumanTime(event.at()), ShortName(event.kind()), EventPlace(event), event.message()});
  }
  return table.Render();
}

std::string WaitLine(const v1::WaitReason& wait) {
  std::string where = wait.stage().empty() ? "job" : wait.stage();
  if (!wait.datacenter().empty()) {
    where += " in " + wait.datacenter();
  }
  return SafeLine(fmt::format("{}: {} ({})", where, wait.message(), wait.code()));
}

}  // namespace houtu::client
