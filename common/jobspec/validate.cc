#include "common/jobspec/validate.h"

#include <fmt/format.h>

#include <set>

#include "common/jobspec/canonical.h"
#include "common/jobspec/dag.h"
#include "common/jobspec/limits.h"
#include "common/jobspec/names.h"
#include "common/jobspec/report.h"
#include "common/jobspec/stage_checks.h"
#include "common/yaml/path.h"
#include "common/yaml/suggest.h"

namespace houtu::jobspec {
namespace {

using yaml::IndexPath;
using yaml::Quote;

constexpr std::string_view kVersion = "houtu/v1";

std::string CheckSize(size_t bytes) {
  if (bytes <= kJobBytesMax) {
    return "";
  }
  return fmt::format(
      "job is {:.1f} MB, limit {:.1f} MB ({} of {} bytes); move large values into "
      "files that the tasks read",
      static_cast<double>(bytes) / 1e6, static_cast<double>(kJobBytesMax) / 1e6, bytes,
      kJobBytesMax);
}

// The size as it will be stored: a stage's defaults take room too.
size_t CanonicalSize(v1::Job job) {
  Canonicalize(&job);
  return job.ByteSizeLong();
}

// Adds what makes all other problems pointless; whether there was such a thing.
bool ExceedsLimits(const v1::Job& job, Report* report) {
  std::string size = CheckSize(job.ByteSizeLong());
  if (size.empty() && job.stages().empty()) {
    report->Add("stages", "no stages; write at least one");
    return true;
  }
  if (size.empty() && job.stages_size() > kStagesMax) {
    report->Add("stages", fmt::format("{} stages, limit {}; make several jobs of it",
                                      job.stages_size(), kStagesMax));
    return true;
  }
  if (size.empty()) {
    size = CheckSize(CanonicalSize(job));
  }
  const bool too_large = !size.empty();
  report->AddUnlessEmpty("", std::move(size));
  return too_large;
}

void CheckCredits(int64_t amount, const std::string& path, Report* report) {
  if (amount < 0 || amount > kMicrocreditsMax) {
    report->Add(
        path, fmt::format("is out of range; write 0 to {} credits", kMicrocreditsMax / 1'000'000));
  }
}

void CheckHead(const v1::Job& job, Report* report) {
  if (job.version() != kVersion) {
    report->Add("version",
                fmt::format("{} is not known; write {}", Quote(job.version()), kVersion));
  }
  report->AddUnlessEmpty("name", CheckJobName(job.name()));
  if (!job.account().empty()) {
    report->AddUnlessEmpty("account", CheckPlainName(job.account()));
  }
  CheckCredits(job.bid_microcredits(), "bid", report);
  CheckCredits(job.budget_microcredits(), "budget", report);
  if (!job.image().empty()) {
    report->AddUnlessEmpty("image", CheckImage(job.image()));
  }
  CheckRetry(job.retry(), "retry", report);
  if (!v1::CheckpointPolicy::Mode_IsValid(job.checkpoint().mode())) {
    report->Add("checkpoint.mode", "is not known here; write auto, never or required");
  }
  CheckVariables(job.env(), "env", report);
  if (job.cross_datacenter_bytes_max() < 0) {
    report->Add("cross_datacenter_bytes_max", "is less than 0; write a size like 1Gi");
  }
}

void CheckDatacenters(const v1::Job& job, Report* report) {
  std::set<std::string> seen;
  for (int i = 0; i < job.datacenters_size(); ++i) {
    const std::string path = IndexPath("datacenters", static_cast<size_t>(i));
    report->AddUnlessEmpty(path, CheckForeignName(job.datacenters(i)));
    if (!seen.insert(job.datacenters(i)).second) {
      report->Add(path, fmt::format("{} is named twice; keep one", Quote(job.datacenters(i))));
    }
  }
}

void CheckOutput(const v1::Job& job, Report* report) {
  if (!job.has_output()) {
    return;
  }
  const v1::Output& output = job.output();
  if (Dag(job).Find(output.stage()) < 0) {
    std::vector<std::string> names;
    for (const v1::Stage& stage : job.stages()) {
      names.push_back(stage.name());
    }
    report->Add("output.stage",
                fmt::format("there is no stage {}{}; write the name of one of the job's stages",
                            Quote(output.stage()), yaml::DidYouMean(output.stage(), names)));
  }
  if (output.datacenter().empty() != output.path().empty()) {
    report->Add("output", "datacenter and path belong together; write both or none");
  }
  if (!output.datacenter().empty()) {
    report->AddUnlessEmpty("output.datacenter", CheckForeignName(output.datacenter()));
  }
  if (!output.node().empty()) {
    report->AddUnlessEmpty("output.node", output.datacenter().empty()
                                              ? "stands without a datacenter; write it too"
                                              : CheckForeignName(output.node()));
  }
  if (!output.path().empty()) {
    report->AddUnlessEmpty("output.path", CheckAbsolutePath(output.path()));
  }
}

}  // namespace

std::vector<yaml::Problem> Validate(const v1::Job& job, const yaml::SourceMap* places) {
  Report report(places);
  if (ExceedsLimits(job, &report)) {
    return report.Take();
  }
  CheckHead(job, &report);
  CheckDatacenters(job, &report);
  for (int i = 0; i < job.stages_size(); ++i) {
    CheckStage(job, job.stages(i), IndexPath("stages", static_cast<size_t>(i)), &report);
  }
  CheckGraph(job, &report);
  CheckOutput(job, &report);
  return report.Take();
}

absl::Status CheckJob(const v1::Job& job) { return yaml::ToStatus("job", Validate(job)); }

}  // namespace houtu::jobspec
