#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/jobspec/dag.h"
#include "common/jobspec/limits.h"
#include "common/jobspec/stage_checks.h"
#include "common/yaml/path.h"
#include "common/yaml/suggest.h"

namespace houtu::jobspec {
namespace {

using yaml::ItemPath;
using yaml::KeyPath;
using yaml::Quote;

std::string StagePath(int stage) { return ItemPath("", "stages", static_cast<size_t>(stage)); }

void CheckNamesOnce(const v1::Job& job, Report* report) {
  std::map<std::string, int> first;
  for (int i = 0; i < job.stages_size(); ++i) {
    const auto [it, is_new] = first.emplace(job.stages(i).name(), i);
    if (!is_new && !it->first.empty()) {
      const std::string path = KeyPath(StagePath(i), "name");
      report->Add(path,
                  fmt::format("stage name {} used {}; rename one of them", it->first,
                              report->WhereBoth(KeyPath(StagePath(it->second), "name"), path)));
    }
  }
}

std::vector<std::string> StageNames(const v1::Job& job) {
  std::vector<std::string> names;
  for (const v1::Stage& stage : job.stages()) {
    names.push_back(stage.name());
  }
  return names;
}

// The number of tasks as far as the job alone tells; none: it depends on the inputs' files.
std::optional<int> TasksOf(const v1::Stage& stage) {
  if (stage.inputs_size() > 0) {
    return std::nullopt;
  }
  return stage.has_tasks() ? stage.tasks() : 1;
}

// Numbers of tasks with those that one_to_one passes on, by stage.
std::vector<std::optional<int>> CountTasks(const v1::Job& job, const Dag& dag) {
  std::vector<std::optional<int>> tasks(static_cast<size_t>(job.stages_size()));
  for (const int index : dag.Order()) {
    const v1::Stage& stage = job.stages(index);
    std::optional<int> count = TasksOf(stage);
    for (const v1::Need& need : stage.needs()) {
      const int other = dag.Find(need.stage());
      if (need.exchange() == v1::EXCHANGE_ONE_TO_ONE && other >= 0 && !stage.has_tasks() &&
          stage.inputs_size() == 0) {
        count = tasks[static_cast<size_t>(other)];
        break;
      }
    }
    tasks[static_cast<size_t>(index)] = count;
  }
  return tasks;
}

// Whether the exchange fits `tasks` tasks that read `needed` ones; what is wrong, or "".
std::string CheckExchange(const v1::Stage& stage, const v1::Need& need, std::optional<int> tasks,
                          std::optional<int> needed) {
  if (!v1::Exchange_IsValid(need.exchange())) {
    return "the exchange is not known here; write shuffle, gather, one_to_one or broadcast";
  }
  if (need.exchange() == v1::EXCHANGE_GATHER &&
      (stage.inputs_size() > 0 || tasks.value_or(1) != 1)) {
    return fmt::format(
        "gather brings all to one task, but the stage has {}; write tasks: 1, or "
        "exchange: broadcast",
        tasks ? fmt::format("{} tasks", *tasks) : "one task for each input");
  }
  if (need.exchange() == v1::EXCHANGE_ONE_TO_ONE && tasks && needed && *tasks != *needed) {
    return fmt::format("one_to_one needs as many tasks here ({}) as in {} ({}); write tasks: {}",
                       *tasks, need.stage(), *needed, *needed);
  }
  return "";
}

void CheckNeeds(const v1::Job& job, const Dag& dag, const std::vector<std::optional<int>>& tasks,
                Report* report) {
  const std::vector<std::string> names = StageNames(job);
  for (int i = 0; i < job.stages_size(); ++i) {
    const v1::Stage& stage = job.stages(i);
    std::set<std::string> seen;
    for (int n = 0; n < stage.needs_size(); ++n) {
      const v1::Need& need = stage.needs(n);
      const std::string path = ItemPath(StagePath(i), "needs", static_cast<size_t>(n));
      const int other = dag.Find(need.stage());
      if (other < 0) {
        report->Add(KeyPath(path, "stage"),
                    fmt::format("there is no stage {}{}; write the name of one of the job's stages",
                                Quote(need.stage()), yaml::DidYouMean(need.stage(), names)));
        continue;
      }
      if (!seen.insert(need.stage()).second) {
        report->Add(KeyPath(path, "stage"),
                    fmt::format("{} is needed twice; keep one", Quote(need.stage())));
      }
      report->AddUnlessEmpty(KeyPath(path, "exchange"),
                             CheckExchange(stage, need, tasks[static_cast<size_t>(i)],
                                           tasks[static_cast<size_t>(other)]));
    }
  }
}

void CheckCircles(const v1::Job& job, const Dag& dag, Report* report) {
  for (const std::vector<int>& circle : dag.Circles()) {
    std::string spelled;
    for (const int stage : circle) {
      spelled += job.stages(stage).name() + " -> ";
    }
    spelled += job.stages(circle.front()).name();
    report->Add(KeyPath(StagePath(circle.front()), "needs"),
                fmt::format("the stages need each other in a circle: {}; remove one of these needs",
                            spelled));
  }
}

void CheckSum(const std::vector<std::optional<int>>& tasks, Report* report) {
  int64_t sum = 0;
  for (const std::optional<int>& count : tasks) {
    sum += std::max(count.value_or(0), 0);
  }
  if (sum > kTasksMax) {
    report->Add("stages",
                fmt::format("have {} tasks in all, limit {}; make larger tasks", sum, kTasksMax));
  }
}

}  // namespace

void CheckGraph(const v1::Job& job, Report* report) {
  const Dag dag(job);
  const std::vector<std::optional<int>> tasks = CountTasks(job, dag);
  CheckNamesOnce(job, report);
  CheckNeeds(job, dag, tasks, report);
  CheckCircles(job, dag, report);
  CheckSum(tasks, report);
}

}  // namespace houtu::jobspec
