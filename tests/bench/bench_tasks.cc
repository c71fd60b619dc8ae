// bench-tasks: how many no-op tasks a second the whole system runs, beside bare process starts in
// the same run; and what a stage of a chain costs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/base/status.h"
#include "tests/bench/bare_spawn.h"
#include "tests/bench/client.h"
#include "tests/bench/cluster.h"
#include "tests/bench/statistics.h"

namespace houtu::bench {
namespace {

constexpr double kRatioGoal = 0.5;
constexpr double kStageSecondsGoal = 0.1;
constexpr int64_t kPidsMax = 64;

struct Options {
  int tasks = 1000;
  int cpu_millis = 100;
  int repeats = 3;
  int chain_stages = 20;
  int chain_tasks = 10;
  bool json = false;
};

/// Seconds of each repeat.
struct Result {
  int parallel = 0;
  std::vector<double> system;
  std::vector<double> bare;
  std::vector<double> chain;
  int bare_ended_before_move = 0;
};

v1::Job TasksJob(const Options& options) {
  v1::Job job = EmptyJob("bench-tasks");
  AddStage(&job, "noop", options.tasks, options.cpu_millis);
  return job;
}

/// Each stage's tasks read all outputs of the one before, so that it starts when that has ended.
v1::Job ChainJob(const Options& options) {
  v1::Job job = EmptyJob("bench-chain");
  for (int i = 0; i < options.chain_stages; ++i) {
    v1::Stage* stage =
        AddStage(&job, fmt::format("s{}", i), options.chain_tasks, options.cpu_millis);
    if (i > 0) {
      v1::Need* need = stage->add_needs();
      need->set_stage(fmt::format("s{}", i - 1));
      need->set_exchange(v1::EXCHANGE_BROADCAST);
    }
  }
  return job;
}

absl::Status RunJob(BenchClient* client, const v1::Job& job, std::vector<double>* seconds) {
  HOUTU_ASSIGN_OR_RETURN(const JobRun run, client->Run(job));
  seconds->push_back(absl::ToDoubleSeconds(run.total()));
  return absl::OkStatus();
}

absl::Status RunCounterpart(const Options& options, Result* result) {
  HOUTU_ASSIGN_OR_RETURN(const BareRun run, RunBare(options.tasks, result->parallel,
                                                    {.cpu_millis = options.cpu_millis,
                                                     .memory_bytes = kTaskMemory,
                                                     .pids_max = kPidsMax}));
  result->bare.push_back(absl::ToDoubleSeconds(run.took));
  result->bare_ended_before_move += run.ended_before_move;
  return absl::OkStatus();
}

absl::StatusOr<Result> Measure(const Options& options) {
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<BenchClient> client, BenchClient::Connect());
  HOUTU_ASSIGN_OR_RETURN(const int64_t cluster_cpu_millis, client->CpuMillis());
  Result result{
      .parallel = static_cast<int>(std::max<int64_t>(1, cluster_cpu_millis / options.cpu_millis))};
  v1::Job warm_up = EmptyJob("warm-up");
  AddStage(&warm_up, "noop", result.parallel, options.cpu_millis);
  HOUTU_RETURN_IF_ERROR(client->Run(warm_up).status());
  // By turns: what else the machine does meanwhile meets both.
  for (int i = 0; i < options.repeats; ++i) {
    HOUTU_RETURN_IF_ERROR(RunJob(client.get(), TasksJob(options), &result.system));
    HOUTU_RETURN_IF_ERROR(RunCounterpart(options, &result));
  }
  for (int i = 0; i < options.repeats; ++i) {
    HOUTU_RETURN_IF_ERROR(RunJob(client.get(), ChainJob(options), &result.chain));
  }
  return result;
}

/// The figures of a result, as they are told.
struct Figures {
  double system_rate;  // tasks a second
  double bare_rate;
  double ratio;
  double stage_seconds;
  bool ratio_reached;
  bool stage_reached;
};

Figures FiguresOf(const Options& options, const Result& result) {
  const double system_rate = options.tasks / Median(result.system);
  const double bare_rate = options.tasks / Median(result.bare);
  const double stage_seconds = Median(result.chain) / options.chain_stages;
  return {.system_rate = system_rate,
          .bare_rate = bare_rate,
          .ratio = system_rate / bare_rate,
          .stage_seconds = stage_seconds,
          .ratio_reached = system_rate / bare_rate >= kRatioGoal,
          .stage_reached = stage_seconds <= kStageSecondsGoal};
}

void PrintJson(const Options& options, const Result& result) {
  const Figures figures = FiguresOf(options, result);
  const nlohmann::ordered_json out = {{"tasks", options.tasks},
                                      {"task_cpu_millis", options.cpu_millis},
                                      {"parallel", result.parallel},
                                      {"repeats", options.repeats},
                                      {"system_tasks_per_second", figures.system_rate},
                                      {"system_seconds", result.system},
                                      {"bare_tasks_per_second", figures.bare_rate},
                                      {"bare_seconds", result.bare},
                                      {"bare_ended_before_move", result.bare_ended_before_move},
                                      {"ratio", figures.ratio},
                                      {"ratio_goal", kRatioGoal},
                                      {"ratio_goal_reached", figures.ratio_reached},
                                      {"chain_stages", options.chain_stages},
                                      {"chain_tasks", options.chain_tasks},
                                      {"chain_exchange", "broadcast"},
                                      {"chain_seconds", result.chain},
                                      {"stage_seconds", figures.stage_seconds},
                                      {"stage_seconds_goal", kStageSecondsGoal},
                                      {"stage_goal_reached", figures.stage_reached}};
  std::cout << out.dump(2) << "\n";
}

const char* Verdict(bool reached) { return reached ? "reached" : "MISSED"; }

void Print(const Options& options, const Result& result) {
  const Figures figures = FiguresOf(options, result);
  fmt::print(
      "{} tasks of /bin/true, room for {} at a time; from before the submission until the client "
      "is\n"
      "told the end; median of {}\n"
      "  through the system        {:7.0f} tasks/s\n"
      "  bare posix_spawn, cgroups {:7.0f} tasks/s\n"
      "  ratio                     {:7.2f}          goal >= {:.2f}: {}\n",
      options.tasks, result.parallel, options.repeats, figures.system_rate, figures.bare_rate,
      figures.ratio, kRatioGoal, Verdict(figures.ratio_reached));
  fmt::print(
      "chain of {} stages of {} tasks (broadcast)\n"
      "  a stage                   {:7.3f} s        goal <= {:.2f} s: {}\n",
      options.chain_stages, options.chain_tasks, figures.stage_seconds, kStageSecondsGoal,
      Verdict(figures.stage_reached));
}

int Main(const Options& options) {
  const absl::StatusOr<Result> result = Measure(options);
  if (!result.ok()) {
    std::cerr << "error: " << result.status() << "\n";
    return 1;
  }
  options.json ? PrintJson(options, *result) : Print(options, *result);
  return 0;
}

}  // namespace
}  // namespace houtu::bench

int main(int argc, char** argv) {
  using namespace houtu::bench;
  Options options;
  ClusterChoice cluster;
  CLI::App app("No-op tasks through the whole system, beside bare process starts in the same run");
  app.add_option("--tasks", options.tasks, "Tasks of the job")->check(CLI::PositiveNumber);
  app.add_option("--cpu-millis", options.cpu_millis, "Of each task: how many run at a time")
      ->check(CLI::Range(10, 1000));
  app.add_option("--repeats", options.repeats, "Repeats; the median counts")
      ->check(CLI::PositiveNumber);
  app.add_option("--chain-stages", options.chain_stages, "Stages of the chain")
      ->check(CLI::Range(1, 200));
  app.add_option("--chain-tasks", options.chain_tasks, "Tasks of each")->check(CLI::PositiveNumber);
  app.add_flag("--json", options.json, "The same as JSON");
  AddClusterOptions(&app, &cluster);
  CLI11_PARSE(app, argc, argv);
  return InCluster() ? Main(options) : RunInCluster(cluster, {argv + 1, argv + argc});
}
