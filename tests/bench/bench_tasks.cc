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

/// The two agents' cpu in all.
constexpr int kClusterCpuMillis = 4000;
constexpr double kRatioGoal = 0.5;
constexpr double kStageSecondsGoal = 0.1;

struct Options {
  int tasks = 1000;
  int parallel = 20;
  int repeats = 3;
  int chain_stages = 20;
  int chain_tasks = 10;
  bool json = false;
};

struct Result {
  double system_rate = 0;  // tasks a second
  double bare_rate = 0;
  double stage_seconds = 0;
  double ratio() const { return system_rate / bare_rate; }
};

v1::Job TasksJob(const Options& options) {
  v1::Job job = EmptyJob("bench-tasks");
  AddStage(&job, "noop", options.tasks, kClusterCpuMillis / options.parallel);
  return job;
}

/// Each stage reads all of the one before.
v1::Job ChainJob(const Options& options) {
  v1::Job job = EmptyJob("bench-chain");
  for (int i = 0; i < options.chain_stages; ++i) {
    v1::Stage* stage = AddStage(&job, fmt::format("s{}", i), options.chain_tasks,
                                kClusterCpuMillis / options.parallel);
    if (i > 0) {
      v1::Need* need = stage->add_needs();
      need->set_stage(fmt::format("s{}", i - 1));
      need->set_exchange(v1::EXCHANGE_BROADCAST);
    }
  }
  return job;
}

absl::StatusOr<double> MedianSeconds(BenchClient* client, const v1::Job& job, int repeats) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    HOUTU_ASSIGN_OR_RETURN(const JobRun run, client->Run(job));
    seconds.push_back(absl::ToDoubleSeconds(run.total()));
  }
  return Median(std::move(seconds));
}

absl::StatusOr<Result> Measure(const Options& options) {
  HOUTU_ASSIGN_OR_RETURN(const std::unique_ptr<BenchClient> client, BenchClient::Connect());
  v1::Job warm_up = EmptyJob("warm-up");
  AddStage(&warm_up, "noop", options.parallel, kClusterCpuMillis / options.parallel);
  HOUTU_RETURN_IF_ERROR(client->Run(warm_up).status());
  std::vector<double> bare;
  for (int i = 0; i < options.repeats; ++i) {
    HOUTU_ASSIGN_OR_RETURN(const double seconds, BareSpawnSeconds(options.tasks, options.parallel));
    bare.push_back(seconds);
  }
  HOUTU_ASSIGN_OR_RETURN(const double system,
                         MedianSeconds(client.get(), TasksJob(options), options.repeats));
  HOUTU_ASSIGN_OR_RETURN(const double chain,
                         MedianSeconds(client.get(), ChainJob(options), options.repeats));
  return Result{.system_rate = options.tasks / system,
                .bare_rate = options.tasks / Median(bare),
                .stage_seconds = chain / options.chain_stages};
}

const char* Verdict(bool reached) { return reached ? "reached" : "MISSED"; }

void Print(const Options& options, const Result& result) {
  if (options.json) {
    std::cout << nlohmann::json{{"tasks", options.tasks},
                                {"parallel", options.parallel},
                                {"repeats", options.repeats},
                                {"system_tasks_per_second", result.system_rate},
                                {"bare_tasks_per_second", result.bare_rate},
                                {"ratio", result.ratio()},
                                {"ratio_goal", kRatioGoal},
                                {"chain_stages", options.chain_stages},
                                {"chain_tasks", options.chain_tasks},
                                {"stage_seconds", result.stage_seconds},
                                {"stage_seconds_goal", kStageSecondsGoal}}
                     .dump()
              << "\n";
    return;
  }
  fmt::print(
      "{} no-op tasks, {} at a time, two agents; from before the submission until the client is\n"
      "told the end; median of {}\n"
      "  through the system        {:7.0f} tasks/s\n"
      "  bare posix_spawn, cgroups {:7.0f} tasks/s\n"
      "  ratio                     {:7.2f}          goal >= {:.2f}: {}\n"
      "chain of {} stages of {} tasks (broadcast)\n"
      "  a stage                   {:7.3f} s        goal <= {:.2f} s: {}\n",
      options.tasks, options.parallel, options.repeats, result.system_rate, result.bare_rate,
      result.ratio(), kRatioGoal, Verdict(result.ratio() >= kRatioGoal), options.chain_stages,
      options.chain_tasks, result.stage_seconds, kStageSecondsGoal,
      Verdict(result.stage_seconds <= kStageSecondsGoal));
}

int Main(const Options& options, const std::vector<std::string>& argv) {
  if (!InCluster()) {
    return RunInCluster(argv);
  }
  const absl::StatusOr<Result> result = Measure(options);
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    return 1;
  }
  Print(options, *result);
  return 0;
}

}  // namespace
}  // namespace houtu::bench

int main(int argc, char** argv) {
  houtu::bench::Options options;
  CLI::App app("No-op tasks through the whole system, beside bare process starts in the same run");
  app.add_option("--tasks", options.tasks, "Tasks of the job")->check(CLI::PositiveNumber);
  app.add_option("--parallel", options.parallel, "Tasks that run at a time")
      ->check(CLI::Range(1, 40));
  app.add_option("--repeats", options.repeats, "Repeats; the median counts")
      ->check(CLI::PositiveNumber);
  app.add_option("--chain-stages", options.chain_stages, "Stages of the chain")
      ->check(CLI::Range(1, 200));
  app.add_option("--chain-tasks", options.chain_tasks, "Tasks of each")->check(CLI::PositiveNumber);
  app.add_flag("--json", options.json, "The same as JSON");
  CLI11_PARSE(app, argc, argv);
  return houtu::bench::Main(options, {argv + 1, argv + argc});
}
