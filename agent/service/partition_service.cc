#include "agent/service/partition_service.h"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agent/partitions/line_split.h"
#include "agent/service/file_stream.h"
#include "agent/service/log_stream.h"
#include "agent/service/pulled_stream.h"
#include "common/base/status.h"
#include "common/log/log.h"
#include "common/rpc/caller.h"

namespace houtu::agent {
namespace {

using FilePull = Pulled<v1::FileChunk>;

/// Opens the files at the first pull, then gives chunk after chunk. `open` returns what to send.
template <typename Open>
auto StreamOf(Open open) {
  auto stream = std::make_shared<std::optional<FileStream>>();
  return [stream, open = std::move(open)]() -> FilePull {
    if (!stream->has_value()) {
      grpc::Status refused;
      absl::StatusOr<std::vector<FileStream::Entry>> entries = open(&refused);
      if (!entries.ok()) {
        return refused.ok() ? FilePull::End(entries.status()) : FilePull{.status = refused};
      }
      stream->emplace(*std::move(entries));
    }
    if ((*stream)->done()) {
      return FilePull::End(absl::OkStatus());
    }
    absl::StatusOr<v1::FileChunk> chunk = (*stream)->Next();
    if (!chunk.ok()) {
      return FilePull::End(chunk.status());
    }
    return {.kind = FilePull::Kind::kMessage, .message = *std::move(chunk)};
  };
}

/// The files of one partition reference.
absl::Status AddEntries(const PartitionStore& store, const AttemptKey& id, const std::string& name,
                        std::vector<FileStream::Entry>* entries) {
  HOUTU_ASSIGN_OR_RETURN(std::vector<v1::FileHeader> files, store.List(id));
  bool found = name.empty();
  for (v1::FileHeader& file : files) {
    if (!name.empty() && file.name() != name) {
      continue;
    }
    found = true;
    auto open = [&store, id, file_name = file.name()] { return store.Open(id, file_name); };
    entries->push_back({.header = std::move(file), .open = std::move(open)});
  }
  return found ? absl::OkStatus()
               : Error(absl::StatusCode::kNotFound, "{} left no file {}", Describe(id),
                       LogValue(name));
}

/// All that the request names. Where some are not here, `refused` carries them (a
/// FetchPartitionsRequest) for the reader, who has them made anew.
absl::StatusOr<std::vector<FileStream::Entry>> EntriesOf(const PartitionStore& store,
                                                         const v1::FetchPartitionsRequest& request,
                                                         grpc::Status* refused) {
  std::vector<FileStream::Entry> entries;
  v1::FetchPartitionsRequest lost;
  absl::Status first;
  for (const v1::PartitionRef& ref : request.partitions()) {
    const AttemptKey id{.job = request.job(),
                        .stage = request.stage(),
                        .task = ref.task(),
                        .attempt = ref.attempt()};
    const absl::Status status = AddEntries(store, id, ref.name(), &entries);
    if (absl::IsNotFound(status) || absl::IsDataLoss(status)) {
      *lost.add_partitions() = ref;
    }
    first.Update(status);
  }
  if (lost.partitions_size() > 0) {
    first = absl::NotFoundError(Message(first));
    *refused = grpc::Status(grpc::StatusCode::NOT_FOUND, Message(first), lost.SerializeAsString());
  }
  HOUTU_RETURN_IF_ERROR(first);
  return entries;
}

absl::StatusOr<std::vector<FileStream::Entry>> EntryOfInput(const DataRoots& roots,
                                                            const v1::RawInput& input) {
  HOUTU_ASSIGN_OR_RETURN(Fd fd, roots.Open(input.path()));
  struct stat st;
  if (fstat(fd.get(), &st) != 0) {
    return ErrnoError(errno, input.path());
  }
  FilePiece piece{.begin = 0, .end = st.st_size};
  if (input.has_length_bytes() || input.offset_bytes() > 0) {
    const int64_t length =
        input.has_length_bytes() ? input.length_bytes() : st.st_size - input.offset_bytes();
    HOUTU_ASSIGN_OR_RETURN(piece, LinesOf(fd.get(), input.offset_bytes(), length));
  }
  FileStream::Entry entry{.begin = piece.begin};
  entry.header.set_name(std::filesystem::path(input.path()).filename());
  entry.header.set_size_bytes(piece.size());
  auto shared = std::make_shared<Fd>(std::move(fd));
  entry.open = [shared]() -> absl::StatusOr<Fd> { return std::move(*shared); };
  std::vector<FileStream::Entry> entries;
  entries.push_back(std::move(entry));
  return entries;
}

template <typename Message>
grpc::ServerWriteReactor<Message>* Refuse(const PartitionService::Parts& parts,
                                          const absl::Status& status) {
  return PulledStream<Message>::Start(parts.pool, parts.loop,
                                      [status] { return Pulled<Message>::End(status); });
}

}  // namespace

absl::Status PartitionService::CheckClient(const Identity& caller, const std::string& job) const {
  const std::optional<JobOwner> owner = parts_.jobs->Find(job);
  if (!owner || !caller.MayUseAccount(owner->account)) {
    return Error(absl::StatusCode::kNotFound, "no job {} of account {} left anything here", job,
                 caller.account);
  }
  return absl::OkStatus();
}

grpc::ServerWriteReactor<v1::FileChunk>* PartitionService::FetchPartitions(
    grpc::CallbackServerContext* context, const v1::FetchPartitionsRequest* request) {
  const absl::StatusOr<Identity> caller =
      RequireRole(*context, {Role::kAgent, Role::kClient, Role::kAdmin});
  absl::Status status = caller.status();
  if (status.ok() && caller->IsClient()) {
    status = CheckClient(*caller, request->job());
  }
  if (!status.ok()) {
    return Refuse<v1::FileChunk>(parts_, status);
  }
  return PulledStream<v1::FileChunk>::Start(
      parts_.pool, parts_.loop, StreamOf([this, request = *request](grpc::Status* refused) {
        return EntriesOf(*parts_.store, request, refused);
      }));
}

grpc::ServerWriteReactor<v1::FileChunk>* PartitionService::FetchInput(
    grpc::CallbackServerContext* context, const v1::FetchInputRequest* request) {
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kAgent});
  absl::Status status = caller.status();
  if (status.ok() && caller->datacenter != parts_.datacenter &&
      request->input().residency() != v1::RESIDENCY_ANYWHERE) {
    status = Error(absl::StatusCode::kPermissionDenied,
                   "{} stays in datacenter {}: the job gives it no residency anywhere",
                   LogValue(request->input().path()), parts_.datacenter);
  }
  if (!status.ok()) {
    return Refuse<v1::FileChunk>(parts_, status);
  }
  return PulledStream<v1::FileChunk>::Start(
      parts_.pool, parts_.loop, StreamOf([this, input = request->input()](grpc::Status*) {
        return EntryOfInput(*parts_.roots, input);
      }));
}

grpc::ServerWriteReactor<v1::LogChunk>* PartitionService::ReadLog(
    grpc::CallbackServerContext* context, const v1::ReadLogRequest* request) {
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kClient, Role::kAdmin});
  absl::Status status = caller.status();
  if (status.ok()) {
    status = CheckClient(*caller, request->id().job());
  }
  if (!status.ok()) {
    return Refuse<v1::LogChunk>(parts_, status);
  }
  auto stream = std::make_shared<LogStream>(parts_.logs, *request);
  return PulledStream<v1::LogChunk>::Start(parts_.pool, parts_.loop,
                                           [stream] { return stream->Next(); });
}

grpc::ServerUnaryReactor* PartitionService::WriteOutput(grpc::CallbackServerContext* context,
                                                        const v1::WriteOutputRequest* request,
                                                        v1::WriteOutputResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const absl::Status status = RequireRole(*context, {Role::kManager}).status(); !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  parts_.pool->Submit([this, request, response, reactor] {
    const absl::StatusOr<int64_t> bytes = parts_.outputs->Write(*request);
    response->set_bytes(bytes.value_or(0));
    reactor->Finish(ToGrpc(bytes.status()));
  });
  return reactor;
}

}  // namespace houtu::agent
