// libFuzzer target: any bytes as a job that came over the wire. Nothing may crash, and a job that
// is accepted must have a canonical form that is accepted too.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/jobspec/canonical.h"
#include "common/jobspec/dag.h"
#include "common/jobspec/validate.h"
#include "houtu/v1/job.pb.h"

namespace houtu::jobspec {
namespace {

void CheckGoodJob(v1::Job job) {
  const Dag dag(job);
  HOUTU_CHECK(dag.Order().size() == static_cast<size_t>(job.stages_size()),
              "a valid job's stages have an order");
  HOUTU_CHECK(!OutputStages(job).empty(), "a valid job has a result");
  Canonicalize(&job);
  const std::string once = SerializeDeterministic(job);
  HOUTU_CHECK(CheckJob(job).ok(), "a valid job's canonical form is valid");
  Canonicalize(&job);
  HOUTU_CHECK(SerializeDeterministic(job) == once, "the canonical form stays what it is");
}

void CheckAnyJob(const v1::Job& job) {
  if (Validate(job).empty()) {
    CheckGoodJob(job);
    return;
  }
  v1::Job canonical = job;  // who asks for it too early gets no crash either
  Canonicalize(&canonical);
  OutputStages(canonical);
}

}  // namespace
}  // namespace houtu::jobspec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  houtu::v1::Job job;
  if (job.ParseFromArray(data, static_cast<int>(size))) {
    houtu::jobspec::CheckAnyJob(job);
  }
  return 0;
}
