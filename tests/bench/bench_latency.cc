// bench-latency: how long a job of one task takes from its submission until the client is told its
// end, and the share of each step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/base/status.h"
#include "common/base/time.h"
#include "tests/bench/client.h"
#include "tests/bench/cluster.h"
#include "tests/bench/statistics.h"

namespace houtu::bench {
namespace {

constexpr double kGoalMs = 300;
constexpr int kWarmUpRuns = 3;

/// The steps of a job of one task, in order; milliseconds each.
struct Steps {
  double accepted = 0;       // the job is recorded, the master answered
  double manager = 0;        // its manager runs and has read the records
  double task_started = 0;   // lease granted, container started, program started
  double task_recorded = 0;  // it ran, ended, and its result and the job's end are recorded
  double told = 0;           // the client knows
  double total = 0;
};

absl::Time EventTime(const v1::ListEventsResponse& events, v1::JobEvent::Kind kind) {
  for (const v1::JobEvent& event : events.events()) {
    if (event.kind() == kind) {
      return FromProto(event.at());
    }
  }
  return absl::InfinitePast();
}

double Milliseconds(absl::Time from, absl::Time to) {
  return absl::ToDoubleMilliseconds(to - from);
}

/// All clocks are this machine's.
absl::StatusOr<Steps> RunOnce(BenchClient* client) {
  v1::Job job = EmptyJob("bench-latency");
  AddStage(&job, "only", 1, 100);
  HOUTU_ASSIGN_OR_RETURN(const JobRun run, client->Run(job));
  v1::ListEventsRequest about;
  about.set_job(run.id);
  HOUTU_ASSIGN_OR_RETURN(const v1::ListEventsResponse events, client->masters().ListEvents(about));
  v1::ListTasksRequest which;
  which.set_job(run.id);
  HOUTU_ASSIGN_OR_RETURN(const v1::ListTasksResponse tasks, client->masters().ListTasks(which));
  if (tasks.tasks_size() != 1) {
    return absl::InternalError("the job has one task");
  }
  const absl::Time manager = EventTime(events, v1::JobEvent::KIND_MANAGER_STARTED);
  const absl::Time started = FromProto(tasks.tasks(0).started_at());
  const absl::Time recorded = EventTime(events, v1::JobEvent::KIND_ENDED);
  return Steps{.accepted = Milliseconds(run.begin, run.accepted),
               .manager = Milliseconds(run.accepted, manager),
               .task_started = Milliseconds(manager, started),
               .task_recorded = Milliseconds(started, recorded),
               .told = Milliseconds(recorded, run.end),
               .total = Milliseconds(run.begin, run.end)};
}

struct Row {
  const char* name;
  double Steps::* step;
};
constexpr Row kRows[] = {{"submission recorded and answered", &Steps::accepted},
                         {"manager started", &Steps::manager},
                         {"lease granted, task started", &Steps::task_started},
                         {"task ran, its end recorded", &Steps::task_recorded},
                         {"client told", &Steps::told},
                         {"total", &Steps::total}};

double PercentileOf(const std::vector<Steps>& runs, double Steps::* step, double percent) {
  std::vector<double> values;
  for (const Steps& run : runs) {
    values.push_back(run.*step);
  }
  return Percentile(std::move(values), percent);
}

/// Of the median total. The steps' medians are of different runs: their sum is not quite all.
double Share(const std::vector<Steps>& runs, double Steps::* step) {
  return PercentileOf(runs, step, 50) / PercentileOf(runs, &Steps::total, 50);
}

bool GoalReached(const std::vector<Steps>& runs) {
  return PercentileOf(runs, &Steps::total, 50) <= kGoalMs;
}

void PrintJson(const std::vector<Steps>& runs) {
  nlohmann::ordered_json steps;
  for (const Row& row : kRows) {
    steps.push_back({{"name", row.name},
                     {"p50_ms", PercentileOf(runs, row.step, 50)},
                     {"p99_ms", PercentileOf(runs, row.step, 99)},
                     {"share", Share(runs, row.step)}});
  }
  const nlohmann::ordered_json out = {{"runs", runs.size()},
                                      {"p50_ms", PercentileOf(runs, &Steps::total, 50)},
                                      {"p99_ms", PercentileOf(runs, &Steps::total, 99)},
                                      {"goal_p50_ms", kGoalMs},
                                      {"goal_reached", GoalReached(runs)},
                                      {"steps", steps}};
  std::cout << out.dump(2) << "\n";
}

void Print(const std::vector<Steps>& runs) {
  fmt::print("a job of one no-op task, {} runs, warm; milliseconds\n{:34} {:>8} {:>8} {:>7}\n",
             runs.size(), "", "p50", "p99", "share");
  for (const Row& row : kRows) {
    fmt::print("{:34} {:8.1f} {:8.1f} {:6.0f}%\n", row.name, PercentileOf(runs, row.step, 50),
               PercentileOf(runs, row.step, 99), 100 * Share(runs, row.step));
  }
  fmt::print("goal p50 <= {:.0f} ms: {}\n", kGoalMs, GoalReached(runs) ? "reached" : "MISSED");
}

absl::StatusOr<std::vector<Steps>> Measure(int count) {
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<BenchClient> client, BenchClient::Connect());
  std::vector<Steps> runs;
  for (int i = -kWarmUpRuns; i < count; ++i) {
    HOUTU_ASSIGN_OR_RETURN(const Steps steps, RunOnce(client.get()));
    if (i >= 0) {
      runs.push_back(steps);
    }
  }
  return runs;
}

int Main(int count, bool json) {
  const absl::StatusOr<std::vector<Steps>> runs = Measure(count);
  if (!runs.ok()) {
    std::cerr << "error: " << runs.status() << "\n";
    return 1;
  }
  json ? PrintJson(*runs) : Print(*runs);
  return 0;
}

}  // namespace
}  // namespace houtu::bench

int main(int argc, char** argv) {
  using namespace houtu::bench;
  int count = 20;
  bool json = false;
  ClusterChoice cluster;
  CLI::App app("From a job's submission to its end, for a job of one task");
  app.add_option("--runs", count, "Jobs measured, after a few that warm up")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "The same as JSON");
  AddClusterOptions(&app, &cluster);
  CLI11_PARSE(app, argc, argv);
  return InCluster() ? Main(count, json) : RunInCluster(cluster, {argv + 1, argv + argc});
}
