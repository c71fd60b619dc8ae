#include "tests/bench/client.h"

#include <cstdlib>
#include <filesystem>

#include "absl/time/clock.h"
#include "common/base/ids.h"
#include "common/base/status.h"
#include "common/yaml/loader.h"
#include "common/yaml/problem.h"

namespace houtu::bench {
namespace {

constexpr absl::Duration kJobLimit = absl::Minutes(5);

/// Paths of the TLS files are relative to the configuration's folder.
void MakeAbsolute(const std::filesystem::path& folder, std::string* path) {
  *path = folder / *path;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchClient>> BenchClient::Connect() {
  const char* file = getenv("HOUTU_CONFIG");
  if (file == nullptr) {
    return absl::FailedPreconditionError("HOUTU_CONFIG names no client configuration");
  }
  v1::ClientConfig config;
  if (const auto problems = yaml::LoadYamlFile(file, &config); !problems.empty()) {
    return absl::InvalidArgumentError(yaml::DescribeAll(file, problems));
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  MakeAbsolute(folder, config.mutable_tls()->mutable_ca());
  MakeAbsolute(folder, config.mutable_tls()->mutable_certificate());
  MakeAbsolute(folder, config.mutable_tls()->mutable_key());
  HOUTU_ASSIGN_OR_RETURN(const TlsMaterial tls, LoadTls(config.tls()));
  return std::unique_ptr<BenchClient>(
      new BenchClient(tls, {.addresses = {config.masters().begin(), config.masters().end()}}));
}

absl::StatusOr<JobRun> BenchClient::Run(const v1::Job& job) {
  v1::SubmitJobRequest request;
  request.set_job_id(NewJobId());
  *request.mutable_job() = job;
  JobRun run{.id = request.job_id(), .begin = absl::Now()};
  HOUTU_RETURN_IF_ERROR(masters_.SubmitJob(request).status());
  run.accepted = absl::Now();
  HOUTU_ASSIGN_OR_RETURN(
      const client::WatchEnd end,
      masters_.WatchJob(run.id, run.begin + kJobLimit,
                        [&run](const v1::JobStatus& status) { run.status = status; }));
  run.end = absl::Now();
  if (end != client::WatchEnd::kJobEnded || run.status.state() != v1::JOB_STATE_SUCCEEDED) {
    return Error(absl::StatusCode::kFailedPrecondition, "job {} did not succeed: {} {}", run.id,
                 v1::JobState_Name(run.status.state()), run.status.message());
  }
  return run;
}

absl::StatusOr<int64_t> BenchClient::CpuMillis() {
  HOUTU_ASSIGN_OR_RETURN(const v1::ListNodesResponse nodes, masters_.ListNodes({}));
  int64_t total = 0;
  for (const v1::Node& node : nodes.nodes()) {
    total += node.capacity().cpu_millis();
  }
  return total;
}

v1::Job EmptyJob(const std::string& name) {
  v1::Job job;
  job.set_version("houtu/v1");
  job.set_name(name);
  return job;
}

v1::Stage* AddStage(v1::Job* job, const std::string& name, int tasks, int cpu_millis) {
  v1::Stage* stage = job->add_stages();
  stage->set_name(name);
  stage->set_tasks(tasks);
  stage->add_command("/bin/true");
  stage->mutable_resources()->set_cpu_millis(cpu_millis);
  stage->mutable_resources()->set_memory_bytes(kTaskMemory);
  return stage;
}

}  // namespace houtu::bench
