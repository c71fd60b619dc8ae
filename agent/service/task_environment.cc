#include "agent/service/task_environment.h"

#include <map>

#include "agent/runtime/lease_folder.h"
#include "common/base/ids.h"

namespace houtu::agent {

std::vector<std::string> TaskEnvironment(const v1::TaskSpec& spec, const std::string& raw_name) {
  std::map<std::string, std::string> env = {
      {"HOME", "/tmp"},
      {"LANG", "C.UTF-8"},
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
  };
  for (const auto& [name, value] : spec.env()) {
    env[name] = value;
  }
  const std::string folder = ContainerTaskDir(KeyOf(spec.id()));
  env["HOUTU_JOB"] = spec.id().job();
  env["HOUTU_STAGE"] = spec.id().stage();
  env["HOUTU_TASK"] = std::to_string(spec.id().task());
  env["HOUTU_ATTEMPT"] = std::to_string(spec.id().attempt());
  env["HOUTU_INPUT_DIR"] = folder + "/in";
  env["HOUTU_OUTPUT_DIR"] = folder + "/out";
  env.erase("HOUTU_INPUT");
  if (!raw_name.empty()) {
    env["HOUTU_INPUT"] = folder + "/raw/" + raw_name;
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : env) {
    lines.push_back(name + "=" + value);
  }
  return lines;
}

}  // namespace houtu::agent
