#include "agent/service/agent_config.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/resources.h"
#include "common/base/status.h"

namespace houtu::agent {
namespace {

constexpr int32_t kUidBase = 200'000;
constexpr int64_t kLogBytesMax = 16 << 20;
constexpr int32_t kPidsMax = 4096;
constexpr int64_t kDiskReserveBytes = 64 << 20;
constexpr char kCgroupParent[] = "houtu";
/// Of the machine's memory, in percent; the rest is for the system and the daemons.
constexpr int64_t kMemoryShare = 80;
constexpr int64_t kMebibyte = 1 << 20;

Resources MachineCapacity() {
  const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const int64_t share = bytes / 100 * kMemoryShare;
  return Resources(int64_t{std::thread::hardware_concurrency()} * 1000,
                   share / kMebibyte * kMebibyte);
}

/// The folder of the running program.
std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().native();
}

}  // namespace

absl::StatusOr<v1::AgentConfig> CompleteConfig(v1::AgentConfig config) {
  if (!std::filesystem::path(config.work_dir()).is_absolute()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "work_dir: \"{}\" is not an absolute path; write one that begins with /",
                 config.work_dir());
  }
  if (config.rack().empty()) {
    config.set_rack(config.node());
  }
  if (!config.has_capacity()) {
    *config.mutable_capacity() = MachineCapacity().ToProto();
  }
  if (config.program_dir().empty()) {
    config.set_program_dir(OwnFolder());
  }
  if (config.runc().empty()) {
    config.set_runc("runc");
  }
  if (config.umoci().empty()) {
    config.set_umoci("umoci");
  }
  if (config.uid_base() == 0) {
    config.set_uid_base(kUidBase);
  }
  if (config.log_bytes_max() == 0) {
    config.set_log_bytes_max(kLogBytesMax);
  }
  if (config.pids_max() == 0) {
    config.set_pids_max(kPidsMax);
  }
  if (config.disk_reserve_bytes() == 0) {
    config.set_disk_reserve_bytes(kDiskReserveBytes);
  }
  if (config.cgroup_parent().empty()) {
    config.set_cgroup_parent(kCgroupParent);
  }
  return config;
}

v1::Node NodeOf(const v1::AgentConfig& config, const std::map<std::string, std::string>& features) {
  v1::Node node;
  node.set_name(config.node());
  node.set_datacenter(config.datacenter());
  node.set_rack(config.rack());
  node.set_agent_address(config.address());
  *node.mutable_capacity() = config.capacity();
  node.set_state(v1::Node::STATE_READY);
  node.mutable_features()->insert(features.begin(), features.end());
  return node;
}

}  // namespace houtu::agent
