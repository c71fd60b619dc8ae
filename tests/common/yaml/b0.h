// B0: the good job file that each case changes in one place, and what the tests ask of a load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/loader.h"
#include "houtu/v1/job.pb.h"

namespace houtu::yaml {

inline constexpr std::string_view kB0 = R"(version: houtu/v1
name: b0
bid: 0.10
stages:
  - name: s1
    tasks: 2
    resources: {cpu: 500m, memory: 64Mi}
    command: [/bin/true]
  - name: s2
    needs: [{stage: s1}]
    tasks: 1
    resources: {cpu: 1, memory: 64Mi}
    command: [/bin/true]
)";

/// `text` with the first `from` replaced by `to`.
inline std::string With(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  return out.replace(out.find(from), from.size(), to);
}

struct Loaded {
  v1::Job job;
  std::vector<Problem> problems;
  std::string text;  // every problem, one a line, as of file b0.yaml
};

inline Loaded Load(std::string_view text, const LoadOptions& options = {}) {
  Loaded loaded;
  loaded.problems = LoadYaml(text, &loaded.job, options);
  loaded.text = DescribeAll("b0.yaml", loaded.problems);
  return loaded;
}

}  // namespace houtu::yaml
