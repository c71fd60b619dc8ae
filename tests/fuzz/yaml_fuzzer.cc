// libFuzzer target: any bytes as a job file, and as a --set beside the good one. Nothing may crash,
// hang or eat memory, and what is accepted must survive being sent.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/jobspec/validate.h"
#include "common/yaml/loader.h"
#include "common/yaml/text_check.h"
#include "houtu/v1/job.pb.h"

namespace houtu {
namespace {

constexpr std::string_view kSet = "--set ";
constexpr std::string_view kGoodFile =
    "version: houtu/v1\nname: x\nstages: [{name: a, command: [x]}]\n";

void CheckProblems(const std::vector<yaml::Problem>& problems) {
  HOUTU_CHECK(problems.size() <= size_t{yaml::kProblemsMax} + 1, "problems are limited");
  for (const yaml::Problem& problem : problems) {
    HOUTU_CHECK(!problem.text.empty(), "every problem says what is wrong");
    HOUTU_CHECK(problem.line >= 0 && problem.column >= 0, "places are counted from 1");
  }
}

void Load(std::string_view text, const std::vector<std::string>& overrides) {
  v1::Job job;
  yaml::SourceMap places;
  const auto problems = yaml::LoadYaml(text, &job, {.overrides = overrides, .places = &places});
  CheckProblems(problems);
  if (!problems.empty()) {
    return;
  }
  v1::Job received;
  HOUTU_CHECK(received.ParseFromString(job.SerializeAsString()), "texts of a job are UTF-8");
  CheckProblems(jobspec::Validate(job, &places));
}

}  // namespace
}  // namespace houtu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with(houtu::kSet)) {
    houtu::Load(houtu::kGoodFile, {std::string(text.substr(houtu::kSet.size()))});
  } else {
    houtu::Load(text, {});
  }
  return 0;
}
