#include "jobmanager/service/unary_calls.h"

#include <memory>
#include <utility>

#include "common/base/status.h"
#include "common/coordination/leader.h"
#include "common/rpc/call.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/job_master_service.grpc.pb.h"
#include "houtu/v1/partition_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"

namespace houtu::jobmanager {
namespace {

constexpr absl::Duration kListDeadline = absl::Seconds(60);
constexpr absl::Duration kWriteDeadline = absl::Hours(1);

absl::StatusOr<std::string> LeaderAddress(const absl::StatusOr<coordination::Node>& node,
                                          const std::string& datacenter) {
  if (node.ok()) {
    const auto record = coordination::ParseLeader(node->data);
    v1::Candidate candidate;
    if (record.has_value() && candidate.ParseFromString(record->leader.candidate)) {
      return candidate.address();
    }
  }
  return Error(absl::StatusCode::kUnavailable, "no master leads {}", datacenter);
}

}  // namespace

void UnaryCalls::List(const ListInputs& effect) {
  options_.coordination->Get(
      options_.paths.MasterElection(effect.datacenter) + "/leader",
      lifeline_.Guard([this, effect](const absl::StatusOr<coordination::Node>& node) {
        const auto address = LeaderAddress(node, effect.datacenter);
        if (address.ok()) {
          ListAt(*address, effect);
        } else {
          tell_(InputsListed{effect.stage, effect.datacenter, address.status()});
        }
      }));
}

void UnaryCalls::ListAt(const std::string& address, const ListInputs& effect) {
  v1::ListInputsRequest request;
  request.set_job(options_.context->job.id());
  request.set_token(options_.token);
  for (const v1::Input& input : effect.inputs) {
    *request.add_inputs() = input;
  }
  auto stub = std::make_shared<v1::JobMasterService::Stub>(options_.channels->Get(address));
  CallOnLoop<v1::ListInputsResponse>(
      options_.loop, stub, std::move(request),
      [&](auto* context, auto* sent, auto* answer, auto done) {
        stub->async()->ListInputs(context, sent, answer, std::move(done));
      },
      lifeline_.Guard([this, stage = effect.stage, datacenter = effect.datacenter](
                          const absl::Status& status, v1::ListInputsResponse& answer) {
        if (status.ok()) {
          tell_(InputsListed{stage, datacenter, std::move(answer)});
        } else {
          tell_(InputsListed{stage, datacenter, status});
        }
      }),
      kListDeadline);
}

void UnaryCalls::Write(const WriteOutput& effect) {
  v1::WriteOutputRequest request;
  request.set_job(options_.context->job.id());
  request.set_path(effect.path);
  for (const v1::PartitionSource& source : effect.sources) {
    *request.add_sources() = source;
  }
  auto stub =
      std::make_shared<v1::PartitionService::Stub>(options_.channels->Get(effect.agent_address));
  CallOnLoop<v1::WriteOutputResponse>(
      options_.loop, stub, std::move(request),
      [&](auto* context, auto* sent, auto* answer, auto done) {
        stub->async()->WriteOutput(context, sent, answer, std::move(done));
      },
      lifeline_.Guard([this](const absl::Status& status, v1::WriteOutputResponse& answer) {
        if (status.ok()) {
          tell_(OutputWritten{std::move(answer)});
        } else {
          tell_(OutputWritten{status});
        }
      }),
      kWriteDeadline);
}

}  // namespace houtu::jobmanager
