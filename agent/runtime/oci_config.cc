#include "agent/runtime/oci_config.h"

#include <nlohmann/json.hpp>

#include "agent/runtime/lease_folder.h"
#include "agent/runtime/seccomp_profile.h"

namespace houtu::agent {
namespace {

using nlohmann::json;

constexpr char kPath[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Of /dev itself; it holds device nodes and links alone.
constexpr char kDevSize[] = "size=65536";

/// Parts of /proc that tell of the machine or steer it.
constexpr const char* kMaskedProc[] = {"/proc/acpi",     "/proc/asound",        "/proc/kcore",
                                       "/proc/keys",     "/proc/latency_stats", "/proc/sched_debug",
                                       "/proc/scsi",     "/proc/timer_list",    "/proc/timer_stats",
                                       "/proc/kallsyms", "/proc/kpagecount",    "/proc/kpageflags"};
constexpr const char* kReadOnlyProc[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                         "/proc/sysrq-trigger"};

json Mount(const char* type, const char* target, json options) {
  return {{"type", type}, {"source", type}, {"destination", target}, {"options", options}};
}

/// A file system in memory counts against the memory limit of whoever fills it; its size bounds
/// what a program sees as free.
json Memory(const char* target, const ContainerSpec& spec) {
  json options = {"nosuid", "nodev", "mode=1777"};
  if (spec.limits.memory_bytes() > 0) {
    options.push_back("size=" + std::to_string(spec.limits.memory_bytes()));
  }
  return Mount("tmpfs", target, std::move(options));
}

json Bind(const std::filesystem::path& source, const std::string& target, bool writable) {
  return {{"type", "bind"},
          {"source", source.native()},
          {"destination", target},
          {"options", {"bind", "nosuid", "nodev", writable ? "rw" : "ro"}}};
}

json Mounts(const ContainerSpec& spec, const OciSettings& settings) {
  json mounts = {
      Mount("proc", "/proc", {"nosuid", "noexec", "nodev"}),
      Mount("tmpfs", "/dev", {"nosuid", "strictatime", "mode=755", kDevSize}),
      Mount("devpts", "/dev/pts",
            {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}),
      Memory("/dev/shm", spec),
      Memory("/tmp", spec),
      Bind(LeaseFolder(spec.lease_dir).io(), kContainerIo, true),
      Bind(settings.executor, kContainerExecutor, false),
  };
  for (const BindMount& bind : spec.binds) {
    mounts.push_back(Bind(bind.source, bind.target, bind.writable));
  }
  return mounts;
}

json Process() {
  const json none = json::array();
  return {{"terminal", false},
          {"user", {{"uid", 0}, {"gid", 0}}},
          {"args", {kContainerExecutor}},
          {"env", {kPath}},
          {"cwd", "/"},
          {"capabilities",
           {{"bounding", none},
            {"effective", none},
            {"inheritable", none},
            {"permitted", none},
            {"ambient", none}}},
          {"noNewPrivileges", true},
          // Not the agent's own, which may be protected; tasks put themselves above it.
          {"oomScoreAdj", 0}};
}

json Namespaces(v1::Network network) {
  json namespaces = json::array();
  for (const char* type : {"user", "pid", "ipc", "uts", "mount"}) {
    namespaces.push_back({{"type", type}});
  }
  if (network != v1::NETWORK_HOST) namespaces.push_back({{"type", "network"}});
  return namespaces;
}

json Linux(const ContainerSpec& spec, const OciSettings& settings) {
  const json ids =
      json::array({{{"containerID", 0}, {"hostID", spec.uid_base}, {"size", kIdsPerContainer}}});
  json masked(kMaskedProc);
  for (const std::filesystem::path& path : settings.masked_paths) masked.push_back(path.native());
  return {{"namespaces", Namespaces(spec.network)},
          {"uidMappings", ids},
          {"gidMappings", ids},
          {"cgroupsPath", settings.cgroups_path},
          {"resources", {{"devices", {{{"allow", false}, {"access", "rwm"}}}}}},
          {"seccomp", SeccompProfile()},
          {"maskedPaths", std::move(masked)},
          {"readonlyPaths", json(kReadOnlyProc)},
          {"rootfsPropagation", "private"}};
}

}  // namespace

std::string OciConfig(const ContainerSpec& spec, const OciSettings& settings) {
  return json({{"ociVersion", "1.0.2"},
               {"root", {{"path", spec.rootfs.native()}, {"readonly", true}}},
               {"hostname", "houtu"},
               {"process", Process()},
               {"mounts", Mounts(spec, settings)},
               {"linux", Linux(spec, settings)}})
      .dump();
}

}  // namespace houtu::agent
