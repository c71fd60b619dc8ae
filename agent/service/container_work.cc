#include "agent/service/container_work.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/partitions/files.h"
#include "common/base/status.h"
#include "common/log/log.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kIdsOfAccount = 65536;
constexpr size_t kProbeBytes = 64 << 10;
constexpr char kProbeLease[] = "probe";

bool IsImagesFault(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsInvalidArgument(status) ||
         absl::IsPermissionDenied(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

uint32_t UidBaseOf(const v1::AgentConfig& config, const v1::StartLease& lease) {
  return static_cast<uint32_t>(config.uid_base()) +
         static_cast<uint32_t>(lease.account_number()) * kIdsOfAccount;
}

int64_t DiskFreeBytes(const WorkPaths& paths) {
  struct statvfs st;
  return statvfs(paths.root().c_str(), &st) == 0
             ? static_cast<int64_t>(st.f_bavail) * static_cast<int64_t>(st.f_frsize)
             : 0;
}

LeaseRecorded ContainerWork::Record(const RecordLease& effect) const {
  const v1::Lease& lease = effect.start.lease();
  absl::Status status = parts_.records->WriteLease(effect.start);
  if (status.ok()) {
    status = parts_.jobs->Record(
        lease.job(), {.account = lease.account(), .token_sha256 = lease.token_sha256()});
  }
  return {.lease_id = lease.id(), .status = std::move(status)};
}

ContainerStarted ContainerWork::Start(const StartContainer& effect) const {
  const std::string& id = effect.start.lease().id();
  ContainerStarted result{.lease_id = id, .status = absl::OkStatus()};
  const absl::StatusOr<fs::path> rootfs =
      parts_.rootfs->Prepare(effect.shape.image, parts_.paths->lease(id));
  if (!rootfs.ok()) {
    result.status = Annotate(rootfs.status(), "image " + effect.shape.image);
    result.node_fault = !IsImagesFault(rootfs.status());
    return result;
  }
  result.status = StartIn(effect, *rootfs);
  result.node_fault = !result.status.ok();
  if (result.status.ok()) {
    LogInfo("container started", {{"lease", id}, {"image", effect.shape.image}});
  } else {
    LogWarning("container not started", {{"lease", id}, {"error", result.status}});
  }
  return result;
}

absl::Status ContainerWork::StartIn(const StartContainer& effect, const fs::path& rootfs) const {
  const v1::Lease& lease = effect.start.lease();
  HOUTU_RETURN_IF_ERROR(parts_.records->WriteContainer(lease.id(), effect.shape));
  ContainerSpec spec{.lease_id = lease.id(),
                     .lease_dir = parts_.paths->lease(lease.id()),
                     .rootfs = rootfs,
                     .network = effect.shape.network,
                     .limits = Resources::FromProto(lease.resources()),
                     // A manager sleeps but for bursts (its start, a thousand ends at once), and a
                     // quota would stretch each of them: its job waits for it then.
                     .cpu_burst = lease.kind() == v1::Lease::KIND_MANAGER,
                     .pids_max = parts_.config->pids_max(),
                     .uid_base = UidBaseOf(*parts_.config, effect.start)};
  HOUTU_RETURN_IF_ERROR(parts_.runtime->StartContainer(spec));
  return Watch(lease.id(), effect.generation);
}

absl::Status ContainerWork::Watch(const std::string& lease_id, int generation) const {
  return parts_.runtime->Watch(
      lease_id, parts_.paths->lease(lease_id),
      [post = post_, lease_id](const TaskExit& exit) {
        post(TaskExited{.lease_id = lease_id, .key = exit.id, .exit = exit});
      },
      [post = post_, lease_id, generation] {
        post(ContainerEnded{.lease_id = lease_id, .generation = generation});
      });
}

ContainerDestroyed ContainerWork::Destroy(const DestroyContainer& effect) const {
  const fs::path folder = parts_.paths->lease(effect.lease_id);
  parts_.runtime->Unwatch(effect.lease_id);
  ContainerDestroyed result{.lease_id = effect.lease_id,
                            .status = parts_.runtime->DestroyContainer(effect.lease_id, folder)};
  if (result.status.ok()) {
    result.status = parts_.rootfs->Release(folder);
  }
  if (absl::StatusOr<std::vector<TaskExit>> exits = parts_.runtime->ListExits(folder); exits.ok()) {
    result.exits = std::move(*exits);
  }
  if (!result.status.ok()) {
    LogWarning("container not removed", {{"lease", effect.lease_id}, {"error", result.status}});
  }
  return result;
}

void ContainerWork::Forget(const std::string& lease_id) const {
  if (absl::Status status = RemoveTree(parts_.paths->lease(lease_id)); !status.ok()) {
    LogWarning("lease's folder not deleted", {{"lease", lease_id}, {"error", status}});
  }
}

Probed ContainerWork::Probe() const {
  const fs::path file = parts_.paths->probe();
  absl::Status status = RemoveTree(file);
  if (status.ok()) {
    absl::StatusOr<Fd> fd = CreateFile(file);
    status = fd.status();
    if (fd.ok()) {
      status = WriteAll(fd->get(), std::string(kProbeBytes, 'x'));
    }
    if (status.ok() && fsync(fd->get()) != 0) {
      status = ErrnoError(errno, file.native());
    }
    RemoveTree(file).IgnoreError();
  }
  if (const int64_t free = DiskFreeBytes(*parts_.paths);
      status.ok() && free < parts_.config->disk_reserve_bytes()) {
    status = Error(absl::StatusCode::kResourceExhausted,
                   "{} free in the work folder, less than the reserve of {}", DescribeBytes(free),
                   DescribeBytes(parts_.config->disk_reserve_bytes()));
  }
  return {.status = status.ok() ? ProbeContainer() : status};
}

absl::Status ContainerWork::ProbeContainer() const {
  const fs::path folder = parts_.paths->lease(kProbeLease);
  HOUTU_RETURN_IF_ERROR(MakeFolders(folder));
  absl::StatusOr<fs::path> rootfs = parts_.rootfs->Prepare("host", folder);
  absl::Status status = rootfs.status();
  if (status.ok()) {
    constexpr int64_t kMemory = 64 << 20;
    status = parts_.runtime->StartContainer(
        {.lease_id = kProbeLease,
         .lease_dir = folder,
         .rootfs = *rootfs,
         .network = v1::NETWORK_NONE,
         .limits = Resources(100, kMemory),
         .pids_max = 16,
         .uid_base = static_cast<uint32_t>(parts_.config->uid_base())});
  }
  RemoveUnknown(kProbeLease);
  return status;
}

absl::Status ContainerWork::Recover(RecoveredLease* lease) const {
  const std::string& id = lease->start.lease().id();
  const fs::path folder = parts_.paths->lease(id);
  HOUTU_ASSIGN_OR_RETURN(const ContainerState state, parts_.runtime->Inspect(id, folder));
  lease->container_runs = state == ContainerState::kRunning;
  if (absl::Status status = RecoverAttempts(lease); !status.ok()) {
    // Its tasks can spoil what they can reach (the executor's socket, say): that costs them their
    // lease, never the node its agent. AgentCore destroys a container that counts as gone.
    LogWarning("lease can't be found again", {{"lease", id}, {"error", status}});
    parts_.runtime->Unwatch(id);
    lease->container_runs = false;
  }
  return absl::OkStatus();
}

absl::Status ContainerWork::RecoverAttempts(RecoveredLease* lease) const {
  const std::string& id = lease->start.lease().id();
  const fs::path folder = parts_.paths->lease(id);
  for (RecoveredAttempt& attempt : lease->attempts) {
    attempt.running = !attempt.end && !lease->end;  // until it is known better
  }
  if (lease->container_runs && !lease->end) {
    // First watch, then look: what ends in between is told twice, and AgentCore takes it once.
    HOUTU_RETURN_IF_ERROR(Watch(id, 1));
  }
  HOUTU_ASSIGN_OR_RETURN(const std::vector<TaskExit> exits, parts_.runtime->ListExits(folder));
  HOUTU_ASSIGN_OR_RETURN(const std::vector<AttemptKey> running,
                         parts_.runtime->ListRunning(folder));
  for (RecoveredAttempt& attempt : lease->attempts) {
    const AttemptKey key = KeyOf(attempt.spec.id());
    const auto exit =
        std::find_if(exits.begin(), exits.end(), [&key](const TaskExit& e) { return e.id == key; });
    if (exit != exits.end()) {
      attempt.exit = *exit;
    }
    attempt.running = std::find(running.begin(), running.end(), key) != running.end();
  }
  return absl::OkStatus();
}

void ContainerWork::RemoveUnknown(const std::string& lease_id) const {
  const ContainerDestroyed destroyed = Destroy(DestroyContainer{lease_id});
  if (destroyed.status.ok()) {
    Forget(lease_id);
  }
}

}  // namespace houtu::agent
