// A job file loaded and validated as houtu job validate does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/jobspec/validate.h"
#include "tests/common/yaml/b0.h"

namespace houtu::jobspec {

/// Every problem of the file b0.yaml with this text, one a line; "": it is good.
inline std::string CheckFile(std::string_view text, v1::Job* job) {
  yaml::SourceMap places;
  std::vector<yaml::Problem> problems = yaml::LoadYaml(text, job, {.places = &places});
  if (problems.empty()) {
    problems = Validate(*job, &places);
  }
  return yaml::DescribeAll("b0.yaml", problems);
}

inline std::string CheckFile(std::string_view text) {
  v1::Job job;
  return CheckFile(text, &job);
}

/// B0 as a message.
inline v1::Job B0() {
  v1::Job job;
  CheckFile(yaml::kB0, &job);
  return job;
}

}  // namespace houtu::jobspec
