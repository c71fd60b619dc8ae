#include "common/jobspec/stage_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/resources.h"
#include "common/jobspec/limits.h"
#include "common/jobspec/names.h"
#include "common/yaml/path.h"
#include "common/yaml/quantity.h"

namespace houtu::jobspec {
namespace {

using yaml::IndexPath;
using yaml::ItemPath;
using yaml::KeyPath;
using yaml::Quote;

constexpr int32_t kNanosPerSecond = 1'000'000'000;

enum class Least { kZero, kAboveZero };

// Durations that came over the wire may be anything.
void CheckDuration(bool given, const google::protobuf::Duration& duration, Least least,
                   const std::string& path, Report* report) {
  if (!given) {
    return;
  }
  const bool whole = duration.seconds() >= 0 && duration.nanos() >= 0 &&
                     duration.nanos() < kNanosPerSecond &&
                     duration.seconds() <= yaml::kDurationSecondsMax;
  const bool zero = duration.seconds() == 0 && duration.nanos() == 0;
  if (!whole || (zero && least == Least::kAboveZero)) {
    report->Add(path, fmt::format("is no duration {} and at most {}h; write one like 90s",
                                  least == Least::kZero ? "of 0s or more" : "above 0s",
                                  yaml::kDurationSecondsMax / 3600));
  }
}

void CheckCommand(const v1::Stage& stage, const std::string& path, Report* report) {
  if (stage.command().empty() || stage.command(0).empty()) {
    report->Add(path, "names no program; write a list of the program and its arguments");
    return;
  }
  if (stage.command_size() > kArgumentsMax) {
    report->Add(path, fmt::format("has {} arguments, limit {}; put them into a file that the task "
                                  "reads",
                                  stage.command_size(), kArgumentsMax));
    return;
  }
  for (int i = 0; i < stage.command_size(); ++i) {
    report->AddUnlessEmpty(IndexPath(path, static_cast<size_t>(i)),
                           CheckArgument(stage.command(i)));
  }
}

void CheckAmount(int64_t amount, int64_t least, int64_t most, const std::string& written_least,
                 const std::string& written_most, const std::string& path, Report* report) {
  if (amount < least || amount > most) {
    report->Add(path, fmt::format("is out of range; write {} to {}", written_least, written_most));
  }
}

// 0 is "not given" in cpu and memory: the default then.
void CheckResources(const v1::Resources& resources, const std::string& path, Report* report) {
  if (resources.cpu_millis() != 0) {
    CheckAmount(resources.cpu_millis(), 1, kCpuMillisMax, DescribeCpu(1),
                DescribeCpu(kCpuMillisMax), KeyPath(path, "cpu"), report);
  }
  if (resources.memory_bytes() != 0) {
    CheckAmount(resources.memory_bytes(), kMemoryBytesMin, kMemoryBytesMax,
                DescribeBytes(kMemoryBytesMin), DescribeBytes(kMemoryBytesMax),
                KeyPath(path, "memory"), report);
  }
  const std::map<std::string, int64_t> customs(resources.custom().begin(),
                                               resources.custom().end());
  for (const auto& [kind, amount] : customs) {
    const std::string custom = KeyPath(KeyPath(path, "custom"), kind);
    report->AddUnlessEmpty(custom, CheckForeignName(kind));
    CheckAmount(amount, 0, kCustomMax, "0", std::to_string(kCustomMax), custom, report);
  }
}

// Whether tasks may run where the input lies, or read it from elsewhere.
bool IsReachable(const v1::Job& job, const v1::Input& input) {
  return job.datacenters().empty() || input.residency() == v1::RESIDENCY_ANYWHERE ||
         std::find(job.datacenters().begin(), job.datacenters().end(), input.datacenter()) !=
             job.datacenters().end();
}

void CheckInput(const v1::Job& job, const v1::Input& input, const std::string& path,
                Report* report) {
  report->AddUnlessEmpty(KeyPath(path, "datacenter"), CheckForeignName(input.datacenter()));
  if (!input.node().empty()) {
    report->AddUnlessEmpty(KeyPath(path, "node"), CheckForeignName(input.node()));
  }
  report->AddUnlessEmpty(KeyPath(path, "path"), CheckInputPath(input.path()));
  if (input.has_split_bytes() && input.split_bytes() < 1) {
    report->Add(KeyPath(path, "split"), "is less than a byte; write a size like 64Mi");
  }
  if (!v1::Residency_IsValid(input.residency())) {
    report->Add(KeyPath(path, "residency"), "is not known here; write datacenter or anywhere");
  }
  if (!IsReachable(job, input)) {
    report->Add(
        KeyPath(path, "datacenter"),
        fmt::format("{} is not among the job's datacenters, and the input may not leave it; "
                    "add it there, or write residency: anywhere",
                    Quote(input.datacenter())));
  }
}

void CheckTasks(const v1::Stage& stage, const std::string& path, Report* report) {
  if (!stage.has_tasks()) {
    return;
  }
  if (stage.inputs_size() > 0) {
    report->Add(path, "stands beside inputs, which make one task each; remove one of the two");
  } else if (stage.tasks() < 0 || stage.tasks() > kTasksMax) {
    report->Add(path, fmt::format("{} is out of range; write 0 to {}", stage.tasks(), kTasksMax));
  }
}

void CheckOutputs(const v1::Stage& stage, const std::string& path, Report* report) {
  if (stage.outputs_size() > kOutputsMax) {
    report->Add(path, fmt::format("has {} names, limit {}; write fewer files", stage.outputs_size(),
                                  kOutputsMax));
    return;
  }
  std::set<std::string> seen;
  for (int i = 0; i < stage.outputs_size(); ++i) {
    const std::string item = IndexPath(path, static_cast<size_t>(i));
    report->AddUnlessEmpty(item, CheckFileName(stage.outputs(i)));
    if (!seen.insert(stage.outputs(i)).second) {
      report->Add(item, fmt::format("{} is named twice; keep one", Quote(stage.outputs(i))));
    }
  }
}

}  // namespace

void CheckVariables(const google::protobuf::Map<std::string, std::string>& variables,
                    const std::string& path, Report* report) {
  if (variables.size() > static_cast<size_t>(kVariablesMax)) {
    report->Add(path, fmt::format("has {} variables, limit {}; put them into a file",
                                  variables.size(), kVariablesMax));
    return;
  }
  const std::map<std::string, std::string> sorted(variables.begin(), variables.end());
  for (const auto& [name, value] : sorted) {
    const std::string variable = KeyPath(path, name);
    report->AddUnlessEmpty(variable, CheckVariableName(name));
    report->AddUnlessEmpty(variable, CheckArgument(value));
    if (name.size() + value.size() + 1 > kArgumentBytesMax && value.size() <= kArgumentBytesMax) {
      report->Add(variable, fmt::format("is {} bytes with its name, limit {}; put it into a file",
                                        name.size() + value.size() + 1, kArgumentBytesMax));
    }
  }
}

void CheckRetry(const v1::RetryPolicy& retry, const std::string& path, Report* report) {
  if (retry.attempts() < 0 || retry.attempts() > kAttemptsMax) {
    report->Add(KeyPath(path, "attempts"),
                fmt::format("{} is out of range; write 1 to {}", retry.attempts(), kAttemptsMax));
  }
  CheckDuration(retry.has_backoff(), retry.backoff(), Least::kZero, KeyPath(path, "backoff"),
                report);
}

void CheckStage(const v1::Job& job, const v1::Stage& stage, const std::string& path,
                Report* report) {
  report->AddUnlessEmpty(KeyPath(path, "name"), CheckPlainName(stage.name()));
  CheckCommand(stage, KeyPath(path, "command"), report);
  for (int i = 0; i < stage.inputs_size(); ++i) {
    CheckInput(job, stage.inputs(i), ItemPath(path, "inputs", static_cast<size_t>(i)), report);
  }
  CheckTasks(stage, KeyPath(path, "tasks"), report);
  CheckResources(stage.resources(), KeyPath(path, "resources"), report);
  CheckDuration(stage.has_process_time(), stage.process_time(), Least::kAboveZero,
                KeyPath(path, "process_time"), report);
  CheckDuration(stage.has_timeout(), stage.timeout(), Least::kAboveZero, KeyPath(path, "timeout"),
                report);
  CheckDuration(stage.has_grace(), stage.grace(), Least::kZero, KeyPath(path, "grace"), report);
  if (!stage.image().empty()) {
    report->AddUnlessEmpty(KeyPath(path, "image"), CheckImage(stage.image()));
  }
  CheckRetry(stage.retry(), KeyPath(path, "retry"), report);
  CheckOutputs(stage, KeyPath(path, "outputs"), report);
  if (!v1::Network_IsValid(stage.network())) {
    report->Add(KeyPath(path, "network"), "is not known here; write none or host");
  }
  CheckVariables(stage.env(), KeyPath(path, "env"), report);
}

}  // namespace houtu::jobspec
