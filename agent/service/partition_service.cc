#include "agent/service/partition_service.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "agent/service/input_stream.h"
#include "agent/service/log_stream.h"
#include "agent/service/partition_stream.h"
#include "agent/service/pulled_stream.h"
#include "agent/service/request_names.h"
#include "common/base/status.h"
#include "common/log/log.h"
#include "common/rpc/caller.h"

namespace houtu::agent {
namespace {

using FilePull = Pulled<v1::FileChunk>;
using FileAnswer = PulledStream<v1::FileChunk>;
using LogAnswer = PulledStream<v1::LogChunk>;

FilePull PullPartitions(PartitionStream* stream) {
  absl::StatusOr<std::optional<v1::FileChunk>> chunk = stream->Next();
  if (chunk.ok() && chunk->has_value()) {
    return FilePull::Give(**std::move(chunk));
  }
  if (stream->lost().partitions_size() > 0) {
    return {.status = grpc::Status(grpc::StatusCode::NOT_FOUND, Message(chunk.status()),
                                   stream->lost().SerializeAsString())};
  }
  return FilePull::End(chunk.status());
}

/// Opens the input at the first pull.
FilePull PullInput(const DataRoots& roots, const v1::RawInput& input,
                   std::optional<FileStream>* stream) {
  if (!stream->has_value()) {
    absl::StatusOr<FileStream> opened = OpenInput(roots, input);
    if (!opened.ok()) {
      return FilePull::End(opened.status());
    }
    stream->emplace(*std::move(opened));
  }
  if ((*stream)->done()) {
    return FilePull::End(absl::OkStatus());
  }
  absl::StatusOr<v1::FileChunk> chunk = (*stream)->Next();
  return chunk.ok() ? FilePull::Give(*std::move(chunk)) : FilePull::End(chunk.status());
}

}  // namespace

absl::Status PartitionService::CheckReader(const absl::StatusOr<Identity>& caller,
                                           const std::string& job, const std::string& stage) const {
  HOUTU_RETURN_IF_ERROR(caller.status());
  HOUTU_RETURN_IF_ERROR(CheckNames(job, stage));
  if (!caller->IsClient()) {
    return absl::OkStatus();
  }
  const std::optional<JobOwner> owner = parts_.jobs->Find(job);
  if (!owner) {
    return Error(absl::StatusCode::kNotFound, "no job {} left anything here", job);
  }
  if (!caller->MayUseAccount(owner->account)) {
    return Error(absl::StatusCode::kPermissionDenied, "{} may not read what job {} left",
                 Describe(*caller), job);
  }
  return absl::OkStatus();
}

absl::Status PartitionService::CheckResidency(const absl::StatusOr<Identity>& caller,
                                              const v1::RawInput& input) const {
  HOUTU_RETURN_IF_ERROR(caller.status());
  if (caller->datacenter != parts_.datacenter && input.residency() != v1::RESIDENCY_ANYWHERE) {
    return Error(absl::StatusCode::kPermissionDenied,
                 "{} stays in datacenter {}: the job gives it no residency anywhere",
                 LogValue(input.path()), parts_.datacenter);
  }
  return absl::OkStatus();
}

grpc::ServerWriteReactor<v1::FileChunk>* PartitionService::FetchPartitions(
    grpc::CallbackServerContext* context, const v1::FetchPartitionsRequest* request) {
  auto caller = RequireRole(
      *context, {Role::kAgent, Role::kManager, Role::kMaster, Role::kClient, Role::kAdmin});
  auto stream = std::make_shared<PartitionStream>(parts_.store, *request);
  return FileAnswer::Start(
      parts_.readers, parts_.loop,
      [this, caller = std::move(caller), job = request->job(), stage = request->stage()] {
        return CheckReader(caller, job, stage);
      },
      [stream] { return PullPartitions(stream.get()); });
}

grpc::ServerWriteReactor<v1::FileChunk>* PartitionService::FetchInput(
    grpc::CallbackServerContext* context, const v1::FetchInputRequest* request) {
  const absl::Status allowed = CheckResidency(
      RequireRole(*context, {Role::kAgent, Role::kManager, Role::kMaster}), request->input());
  auto stream = std::make_shared<std::optional<FileStream>>();
  return FileAnswer::Start(
      parts_.readers, parts_.loop, [allowed] { return allowed; },
      [this, stream, input = request->input()] {
        return PullInput(*parts_.roots, input, stream.get());
      });
}

grpc::ServerWriteReactor<v1::LogChunk>* PartitionService::ReadLog(
    grpc::CallbackServerContext* context, const v1::ReadLogRequest* request) {
  auto caller = RequireRole(*context, {Role::kAgent, Role::kMaster, Role::kClient, Role::kAdmin});
  auto stream = std::make_shared<LogStream>(parts_.logs, *request);
  return LogAnswer::Start(
      parts_.readers, parts_.loop,
      [this, caller = std::move(caller), id = request->id()] {
        return CheckReader(caller, id.job(), id.stage());
      },
      [stream] { return stream->Next(); });
}

grpc::ServerUnaryReactor* PartitionService::WriteOutput(grpc::CallbackServerContext* context,
                                                        const v1::WriteOutputRequest* request,
                                                        v1::WriteOutputResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto caller = RequireRole(*context, {Role::kManager, Role::kMaster});
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  parts_.writers->Submit([this, context, request, response, reactor] {
    absl::StatusOr<v1::WriteOutputResponse> written =
        parts_.outputs->Write(*request, [context] { return context->IsCancelled(); });
    if (written.ok()) {
      *response = *std::move(written);
    }
    reactor->Finish(ToGrpc(written.status()));
  });
  return reactor;
}

}  // namespace houtu::agent
