#include "client/command/job_file.h"

#include "common/jobspec/canonical.h"
#include "common/jobspec/validate.h"
#include "common/yaml/loader.h"

namespace houtu::client {

std::vector<yaml::Problem> LoadJobFile(const std::string& file,
                                       const std::vector<std::string>& overrides, v1::Job* job) {
  yaml::SourceMap places;
  std::vector<yaml::Problem> problems =
      yaml::LoadYamlFile(file, job, {.overrides = overrides, .places = &places});
  if (problems.empty()) {
    problems = jobspec::Validate(*job, &places);
  }
  if (problems.empty()) {
    jobspec::Canonicalize(job);
  }
  return problems;
}

}  // namespace houtu::client
