// BenchClient: submits jobs to the cluster and tells when they ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/net/interrupt.h"
#include "client/net/masters.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/client_service.pb.h"

namespace houtu::bench {

/// Of each no-op task.
inline constexpr int64_t kTaskMemory = 32 << 20;

/// One job's times.
struct JobRun {
  std::string id;
  absl::Time begin;     // before the submission was sent
  absl::Time accepted;  // the master's answer
  absl::Time end;       // the watch told the job's end
  v1::JobStatus status;
  absl::Duration total() const { return end - begin; }
};

/// Owner: main.
class BenchClient {
 public:
  /// By $HOUTU_CONFIG, as local-cluster sets it.
  static absl::StatusOr<std::unique_ptr<BenchClient>> Connect();

  /// Submits the job and waits for its end. FAILED_PRECONDITION: it did not succeed.
  absl::StatusOr<JobRun> Run(const v1::Job& job);

  /// What the leases of all nodes may use together.
  absl::StatusOr<int64_t> CpuMillis();

  client::Masters& masters() { return masters_; }

 private:
  BenchClient(const TlsMaterial& tls, client::Masters::Options options)
      : channels_(tls), masters_(std::move(options), &channels_, &interrupt_) {}

  client::Interrupt interrupt_;
  ChannelPool channels_;
  client::Masters masters_;
};

/// A job without stages.
v1::Job EmptyJob(const std::string& name);

/// A stage of no-op tasks (/bin/true), `cpu_millis` each.
v1::Stage* AddStage(v1::Job* job, const std::string& name, int tasks, int cpu_millis);

}  // namespace houtu::bench
