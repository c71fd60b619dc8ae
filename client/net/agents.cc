#include "client/net/agents.h"

#include "client/text/units.h"
#include "common/base/status.h"
#include "common/rpc/call.h"
#include "common/rpc/channel_pool.h"
#include "houtu/v1/partition_service.grpc.pb.h"

namespace houtu::client {
namespace {

using Service = v1::PartitionService;

/// Reads a server's stream to its end. `open(context)` starts it.
template <typename Message, typename Open>
absl::Status ReadAll(Interrupt* interrupt, absl::Duration idle, Open open,
                     const std::function<absl::Status(const Message&)>& on_message) {
  grpc::ClientContext context;
  Interrupt::Watch watch(interrupt, idle, [&context] { context.TryCancel(); });
  const auto reader = open(&context);
  Message message;
  absl::Status wanted;
  while (wanted.ok() && reader->Read(&message)) {
    watch.Touch(idle);
    wanted = on_message(message);
  }
  if (!wanted.ok()) {
    context.TryCancel();
  }
  const absl::Status end = FromGrpc(reader->Finish());
  if (!wanted.ok()) {
    return wanted;
  }
  if (watch.idled()) {
    return Error(absl::StatusCode::kDeadlineExceeded, "nothing arrived for {}",
                 HumanDuration(idle));
  }
  if (end.code() == absl::StatusCode::kCancelled && !interrupt->fired()) {
    return absl::UnavailableError("the agent ended the stream");
  }
  return end;
}

}  // namespace

absl::Status Agents::ReadLog(const std::string& address, const v1::ReadLogRequest& request,
                             const std::function<absl::Status(const v1::LogChunk&)>& on_chunk) {
  const auto stub = Service::NewStub(channels_->Get(address));
  // A task that is silent is no agent that is silent; a dead agent is noticed by keepalive.
  const absl::Duration idle = request.follow() ? absl::InfiniteDuration() : kIdleMax;
  return ReadAll<v1::LogChunk>(
      interrupt_, idle, [&](auto* context) { return stub->ReadLog(context, request); }, on_chunk);
}

absl::Status Agents::FetchPartitions(
    const std::string& address, const v1::FetchPartitionsRequest& request,
    const std::function<absl::Status(const v1::FileChunk&)>& on_chunk) {
  const auto stub = Service::NewStub(channels_->Get(address));
  return ReadAll<v1::FileChunk>(
      interrupt_, kIdleMax, [&](auto* context) { return stub->FetchPartitions(context, request); },
      on_chunk);
}

}  // namespace houtu::client
