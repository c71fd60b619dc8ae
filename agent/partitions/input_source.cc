#include "agent/partitions/input_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "agent/partitions/file_receiver.h"
#include "agent/partitions/line_split.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// An input can't be had: the caller tells it from a fault of this node by the code.
absl::Status InputError(const absl::Status& status, std::string_view what) {
  return Error(absl::StatusCode::kDataLoss, "{}: {}", what, Message(status));
}

void AddLost(const v1::PartitionSource& source, const v1::PartitionRef& ref, InputOutcome* out) {
  v1::LostPartition& lost = out->lost.emplace_back();
  lost.set_stage(source.stage());
  lost.set_task(ref.task());
  lost.set_attempt(ref.attempt());
  lost.set_node(source.node());
}

absl::Status Rename(const fs::path& from, const fs::path& to) {
  return rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : ErrnoError(errno, to.native());
}

absl::Status Link(const fs::path& from, const fs::path& to) {
  return link(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : ErrnoError(errno, to.native());
}

/// Whether the container may be given the very file: it can read it and never change it.
bool MayLink(const struct stat& st, uint32_t uid_base) {
  const bool containers_own = st.st_uid >= uid_base && st.st_uid - uid_base < 65536;
  return (st.st_mode & S_IROTH) != 0 && (st.st_mode & (S_IWOTH | S_ISUID | S_ISGID)) == 0 &&
         !containers_own;
}

bool LinkOpenFile(int fd, const fs::path& target) {
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// `disk` becomes what this node's own disk failed at, told apart from what the peer failed at.
absl::Status TakeChunk(FileReceiver* receiver, const v1::FileChunk& chunk, absl::Status* disk) {
  absl::Status status = receiver->Take(chunk);
  if (!status.ok() && !absl::IsDataLoss(status) && !absl::IsInvalidArgument(status)) {
    *disk = status;
  }
  return status;
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

InputSource::InputSource(Options options, const DataRoots* roots, const PartitionStore* store,
                         RemoteFiles* remote)
    : options_(std::move(options)), roots_(roots), store_(store), remote_(remote) {
  if (!options_.sleep) {
    options_.sleep = [](absl::Duration pause) {
      std::this_thread::sleep_for(absl::ToChronoMilliseconds(pause));
    };
  }
}

bool InputSource::HasInputs(const v1::TaskSpec& spec) {
  return spec.has_input() || spec.upstream_size() > 0;
}

bool InputSource::IsLocal(const std::string& datacenter, const std::string& node) const {
  return datacenter == options_.datacenter && node == options_.node;
}

bool InputSource::NeedsNetwork(const v1::TaskSpec& spec) const {
  for (const v1::PartitionSource& source : spec.upstream()) {
    if (!IsLocal(source.datacenter(), source.node())) {
      return true;
    }
  }
  return spec.has_input() && !IsLocal(spec.input().datacenter(), spec.input().node());
}

InputOutcome InputSource::Bring(const v1::TaskSpec& spec, const InputPlace& place) const {
  InputOutcome out;
  if (!HasInputs(spec)) {
    return out;
  }
  out.status = RemoveTree(place.staging);
  if (out.status.ok()) {
    out.status = BringAll(spec, place, &out);
  }
  RemoveTree(place.staging).IgnoreError();
  return out;
}

absl::Status InputSource::BringAll(const v1::TaskSpec& spec, const InputPlace& place,
                                   InputOutcome* out) const {
  const fs::path in = place.staging / "in";
  HOUTU_RETURN_IF_ERROR(MakeFolders(in));
  for (const v1::PartitionSource& source : spec.upstream()) {
    const fs::path stage_dir = in / source.stage();
    HOUTU_RETURN_IF_ERROR(MakeFolders(stage_dir));
    if (IsLocal(source.datacenter(), source.node())) {
      HOUTU_RETURN_IF_ERROR(BringLocal(spec.id().job(), source, stage_dir, out));
    } else {
      HOUTU_RETURN_IF_ERROR(
          BringRemote(spec.id().job(), source, stage_dir, place.staging / "fetched", out));
    }
  }
  HOUTU_RETURN_IF_ERROR(Rename(in, place.task_dir / "in"));
  return spec.has_input() ? BringRaw(spec, place, out) : absl::OkStatus();
}

absl::Status InputSource::BringRaw(const v1::TaskSpec& spec, const InputPlace& place,
                                   InputOutcome* out) const {
  const fs::path raw = place.staging / "raw";
  out->raw_name = NameOf(spec.input().path());
  if (IsLocal(spec.input().datacenter(), spec.input().node())) {
    HOUTU_RETURN_IF_ERROR(MakeFolders(raw));
    HOUTU_RETURN_IF_ERROR(LocalRaw(spec.input(), raw / out->raw_name, place.uid_base, out));
  } else {
    HOUTU_RETURN_IF_ERROR(RemoteRaw(spec, place.staging, out));
  }
  return Rename(raw, place.task_dir / "raw");
}

absl::Status InputSource::LocalRaw(const v1::RawInput& input, const fs::path& target,
                                   uint32_t uid_base, InputOutcome* out) const {
  absl::StatusOr<Fd> source = roots_->Open(input.path());
  if (!source.ok()) {
    return InputError(source.status(), "input");
  }
  struct stat st;
  if (fstat(source->get(), &st) != 0) {
    return ErrnoError(errno, input.path());
  }
  FilePiece piece{.begin = 0, .end = st.st_size};
  if (input.has_length_bytes() || input.offset_bytes() > 0) {
    const int64_t length =
        input.has_length_bytes() ? input.length_bytes() : st.st_size - input.offset_bytes();
    HOUTU_ASSIGN_OR_RETURN(piece, LinesOf(source->get(), input.offset_bytes(), length));
  }
  out->local_bytes += piece.size();
  if (piece.size() == st.st_size && MayLink(st, uid_base) && LinkOpenFile(source->get(), target)) {
    return absl::OkStatus();
  }
  HOUTU_ASSIGN_OR_RETURN(const Fd copy, CreateFile(target));
  absl::Status status = CopyBytes(source->get(), piece.begin, piece.size(), copy.get());
  return absl::IsFailedPrecondition(status) ? InputError(status, LogValue(input.path())) : status;
}

absl::Status InputSource::RemoteRaw(const v1::TaskSpec& spec, const fs::path& staging,
                                    InputOutcome* out) const {
  v1::FetchInputRequest request;
  request.set_job(spec.id().job());
  *request.mutable_input() = spec.input();
  const std::string& from = spec.input().datacenter();
  absl::Status disk;
  const absl::Status status = Retry([&] {
    HOUTU_RETURN_IF_ERROR(disk = RemoveTree(staging / "fetched"));
    FileReceiver receiver(staging / "fetched");
    absl::Status fetched = remote_->FetchInput(
        spec.input().agent_address(), request,
        [&](const v1::FileChunk& chunk) { return TakeChunk(&receiver, chunk, &disk); });
    out->bytes_from[from] += receiver.bytes();
    return fetched.ok() ? receiver.End() : fetched;
  });
  HOUTU_RETURN_IF_ERROR(disk);
  if (!status.ok()) {
    return InputError(
        status, fmt::format("input {} on {}", LogValue(spec.input().path()), spec.input().node()));
  }
  return Rename(staging / "fetched" / "0", staging / "raw");
}

absl::Status InputSource::BringLocal(const std::string& job, const v1::PartitionSource& source,
                                     const fs::path& stage_dir, InputOutcome* out) const {
  for (const v1::PartitionRef& ref : source.partitions()) {
    const AttemptKey id{
        .job = job, .stage = source.stage(), .task = ref.task(), .attempt = ref.attempt()};
    const absl::StatusOr<std::vector<v1::FileHeader>> files = store_->List(id);
    if (!files.ok()) {
      AddLost(source, ref, out);
      continue;
    }
    const fs::path target = stage_dir / std::to_string(ref.task());
    const bool folder = ref.name().empty() && files->size() > 1;
    if (folder) {
      HOUTU_RETURN_IF_ERROR(MakeFolders(target));
    }
    for (const v1::FileHeader& file : *files) {
      if (ref.name().empty() || ref.name() == file.name()) {
        HOUTU_RETURN_IF_ERROR(
            Link(store_->FolderOf(id) / file.name(), folder ? target / file.name() : target));
        out->local_bytes += file.size_bytes();
      }
    }
  }
  return out->lost.empty()
             ? absl::OkStatus()
             : Error(absl::StatusCode::kDataLoss, "{} partitions of stage {} are not here any more",
                     out->lost.size(), source.stage());
}

absl::Status InputSource::BringRemote(const std::string& job, const v1::PartitionSource& source,
                                      const fs::path& stage_dir, const fs::path& fetched,
                                      InputOutcome* out) const {
  v1::FetchPartitionsRequest request;
  request.set_job(job);
  request.set_stage(source.stage());
  *request.mutable_partitions() = source.partitions();
  std::map<int, std::vector<std::string>> files;
  std::vector<v1::PartitionRef> lost;
  absl::Status disk;
  const absl::Status status = Retry([&] {
    lost.clear();
    HOUTU_RETURN_IF_ERROR(disk = RemoveTree(fetched));
    FileReceiver receiver(fetched);
    absl::Status got = remote_->FetchPartitions(
        source.agent_address(), request,
        [&](const v1::FileChunk& chunk) { return TakeChunk(&receiver, chunk, &disk); }, &lost);
    out->bytes_from[source.datacenter()] += receiver.bytes();
    if (got.ok()) {
      got = receiver.End();
    }
    if (absl::IsDataLoss(got) && lost.empty()) {
      lost.emplace_back().set_task(receiver.current().task());
      lost.back().set_attempt(receiver.current().attempt());
    }
    files = receiver.files();
    return got;
  });
  HOUTU_RETURN_IF_ERROR(disk);
  if (!status.ok()) {
    if (lost.empty()) {
      lost.assign(source.partitions().begin(), source.partitions().end());
    }
    for (const v1::PartitionRef& ref : lost) {
      AddLost(source, ref, out);
    }
    return InputError(status, fmt::format("stage {} on {}", source.stage(), source.node()));
  }
  for (const v1::PartitionRef& ref : source.partitions()) {
    const auto found = files.find(ref.task());
    if (found == files.end()) {
      continue;  // the task wrote nothing, or not this partition
    }
    const fs::path folder = fetched / std::to_string(ref.task());
    const bool whole_folder = ref.name().empty() && found->second.size() > 1;
    HOUTU_RETURN_IF_ERROR(Rename(whole_folder ? folder : folder / found->second.front(),
                                 stage_dir / std::to_string(ref.task())));
  }
  return absl::OkStatus();
}

absl::Status InputSource::Retry(const std::function<absl::Status()>& attempt) const {
  return RetryStream({.pause = options_.retry_pause, .sleep = options_.sleep}, attempt);
}

}  // namespace houtu::agent
