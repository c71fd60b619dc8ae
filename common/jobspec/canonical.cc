#include "common/jobspec/canonical.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <set>

#include "common/base/check.h"
#include "common/jobspec/dag.h"

namespace houtu::jobspec {
namespace {

constexpr int32_t kAttempts = 3;
constexpr int64_t kBackoffSeconds = 1;
constexpr int64_t kCpuMillis = 1000;
constexpr int64_t kMemoryBytes = int64_t{256} << 20;
constexpr int64_t kProcessTimeSeconds = 5;
constexpr int64_t kGraceSeconds = 5;
constexpr const char* kImage = "host";

void FillRetry(int32_t attempts, const google::protobuf::Duration& backoff, v1::RetryPolicy* out) {
  if (out->attempts() == 0) {
    out->set_attempts(attempts);
  }
  if (!out->has_backoff()) {
    *out->mutable_backoff() = backoff;
  }
}

void FillResources(v1::Resources* resources) {
  if (resources->cpu_millis() == 0) {
    resources->set_cpu_millis(kCpuMillis);
  }
  if (resources->memory_bytes() == 0) {
    resources->set_memory_bytes(kMemoryBytes);
  }
}

void FillNeedsAndInputs(v1::Stage* stage) {
  for (v1::Need& need : *stage->mutable_needs()) {
    if (need.exchange() == v1::EXCHANGE_UNSPECIFIED) {
      need.set_exchange(v1::EXCHANGE_SHUFFLE);
    }
  }
  for (v1::Input& input : *stage->mutable_inputs()) {
    if (input.residency() == v1::RESIDENCY_UNSPECIFIED) {
      input.set_residency(v1::RESIDENCY_DATACENTER);
    }
  }
}

void FillStage(const v1::Job& job, v1::Stage* stage) {
  if (stage->image().empty()) {
    stage->set_image(job.image());
  }
  FillRetry(job.retry().attempts(), job.retry().backoff(), stage->mutable_retry());
  FillResources(stage->mutable_resources());
  if (!stage->has_process_time()) {
    stage->mutable_process_time()->set_seconds(kProcessTimeSeconds);
  }
  if (!stage->has_grace()) {
    stage->mutable_grace()->set_seconds(kGraceSeconds);
  }
  if (stage->network() == v1::NETWORK_UNSPECIFIED) {
    stage->set_network(v1::NETWORK_NONE);
  }
  FillNeedsAndInputs(stage);
}

// The stage that gives `stage` its number of tasks; -1: none.
int OneToOneWith(const v1::Stage& stage, const Dag& dag) {
  for (const v1::Need& need : stage.needs()) {
    if (need.exchange() == v1::EXCHANGE_ONE_TO_ONE) {
      return dag.Find(need.stage());
    }
  }
  return -1;
}

void FillTasks(v1::Job* job) {
  const Dag dag(*job);
  for (const int index : dag.Order()) {
    v1::Stage* const stage = job->mutable_stages(index);
    if (stage->has_tasks() || stage->inputs_size() > 0) {
      continue;
    }
    const int other = OneToOneWith(*stage, dag);
    if (other < 0) {
      stage->set_tasks(1);
    } else if (job->stages(other).has_tasks()) {
      stage->set_tasks(job->stages(other).tasks());
    }
  }
}

void FillDatacenters(v1::Job* job) {
  std::set<std::string> named;
  for (const v1::Stage& stage : job->stages()) {
    for (const v1::Input& input : stage.inputs()) {
      named.insert(input.datacenter());
    }
  }
  if (job->datacenters().empty()) {
    job->mutable_datacenters()->Add(named.begin(), named.end());
  }
}

}  // namespace

void Canonicalize(v1::Job* job) {
  if (job->image().empty()) {
    job->set_image(kImage);
  }
  google::protobuf::Duration backoff;
  backoff.set_seconds(kBackoffSeconds);
  FillRetry(kAttempts, backoff, job->mutable_retry());
  if (job->checkpoint().mode() == v1::CheckpointPolicy::MODE_UNSPECIFIED) {
    job->mutable_checkpoint()->set_mode(v1::CheckpointPolicy::MODE_AUTO);
  }
  for (v1::Stage& stage : *job->mutable_stages()) {
    FillStage(*job, &stage);
  }
  FillTasks(job);
  FillDatacenters(job);
}

std::string SerializeDeterministic(const google::protobuf::Message& message) {
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    HOUTU_CHECK(message.SerializeToCodedStream(&coded), "a message fits its limit of 2 GiB");
  }
  return out;
}

std::vector<std::string> OutputStages(const v1::Job& job) {
  if (job.has_output()) {
    return {job.output().stage()};
  }
  const Dag dag(job);
  std::vector<std::string> names;
  for (int stage = 0; stage < dag.size(); ++stage) {
    if (dag.consumers(stage).empty()) {
      names.push_back(job.stages(stage).name());
    }
  }
  return names;
}

}  // namespace houtu::jobspec
