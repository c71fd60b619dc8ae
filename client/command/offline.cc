#include "client/command/offline.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "client/command/job_run.h"
#include "client/text/json_text.h"
#include "client/text/safe_text.h"
#include "common/base/check.h"
#include "common/yaml/loader.h"
#include "houtu/v1/config.pb.h"

namespace houtu::client {
namespace {

std::unique_ptr<google::protobuf::Message> NewConfig(const std::string& kind) {
  if (kind == "master") {
    return std::make_unique<v1::MasterConfig>();
  }
  if (kind == "agent") {
    return std::make_unique<v1::AgentConfig>();
  }
  if (kind == "jobmanager") {
    return std::make_unique<v1::JobManagerConfig>();
  }
  HOUTU_CHECK(kind == "client", "the kind is one of kConfigKinds");
  return std::make_unique<v1::ClientConfig>();
}

}  // namespace

ExitStatus ConfigValidate(const Console& console, const std::string& file,
                          const std::string& kind) {
  if (kind == "job") {
    return JobValidate(console, file, {});
  }
  const std::unique_ptr<google::protobuf::Message> config = NewConfig(kind);
  const std::vector<yaml::Problem> problems = yaml::LoadYamlFile(file, config.get());
  if (!problems.empty()) {
    return console.FailProblems(file, problems);
  }
  if (console.IsStructured()) {
    console.PrintMessage(*config);
  } else {
    *console.out << SafeLine(file) << ": valid\n";
  }
  return ExitStatus::kDone;
}

std::string VersionText() { return HOUTU_VERSION; }

ExitStatus Version(const Console& console) {
  if (console.IsStructured()) {
    console.PrintJson(
        fmt::format(R"({{"version":{},"schema":"houtu/v1"}})", JsonString(VersionText())));
  } else {
    *console.out << "houtu " << VersionText() << "\n";
  }
  return ExitStatus::kDone;
}

}  // namespace houtu::client
