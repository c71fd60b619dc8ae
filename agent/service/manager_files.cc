#include "agent/service/manager_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "agent/partitions/files.h"
#include "agent/runtime/lease_folder.h"
#include "common/base/status.h"
#include "common/base/time.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

/// A text in double quotes, as YAML and JSON read it.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

absl::Status WriteFor(uint32_t owner, const fs::path& path, std::string_view bytes) {
  HOUTU_ASSIGN_OR_RETURN(const Fd fd, CreateFile(path));
  if (fchmod(fd.get(), 0400) != 0 || fchown(fd.get(), owner, owner) != 0) {
    return ErrnoError(errno, path.native());
  }
  return Annotate(WriteAll(fd.get(), bytes), path.native());
}

absl::Status CopyFor(uint32_t owner, const std::string& from, const fs::path& to) {
  const Fd fd(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st;
  if (!fd.valid() || fstat(fd.get(), &st) != 0) {
    return ErrnoError(errno, from);
  }
  HOUTU_RETURN_IF_ERROR(WriteFor(owner, to, ""));
  const Fd copy(open(to.c_str(), O_WRONLY | O_CLOEXEC));
  if (!copy.valid()) {
    return ErrnoError(errno, to.native());
  }
  return Annotate(CopyBytes(fd.get(), 0, st.st_size, copy.get()), to.native());
}

}  // namespace

std::string ManagerConfigYaml(const v1::AgentConfig& config, const v1::Lease& lease,
                              const std::string& folder) {
  std::string servers;
  for (const std::string& server : config.zookeeper().servers()) {
    servers += (servers.empty() ? "" : ", ") + Quoted(server);
  }
  const v1::ZooKeeper& zk = config.zookeeper();
  const int64_t timeout_ms = absl::ToInt64Milliseconds(
      DurationOr(zk.has_session_timeout(), zk.session_timeout(), absl::Seconds(6)));
  const std::string host = config.address().substr(0, config.address().rfind(':'));
  return fmt::format(
      "job: {}\ndatacenter: {}\nnode: {}\nlease_id: {}\nhost: {}\n"
      "tls: {{ca: {}, certificate: {}, key: {}}}\n"
      "zookeeper: {{servers: [{}], session_timeout: {}ms, root: {}}}\n"
      "logging: {{level: {}}}\ntoken_file: {}\n",
      Quoted(lease.job()), Quoted(config.datacenter()), Quoted(config.node()), Quoted(lease.id()),
      Quoted(host), Quoted(folder + "/ca.pem"), Quoted(folder + "/certificate.pem"),
      Quoted(folder + "/key.pem"), servers, timeout_ms,
      Quoted(zk.root().empty() ? "/houtu/v1" : zk.root()),
      Quoted(config.logging().level().empty() ? "info" : config.logging().level()),
      Quoted(folder + "/token"));
}

absl::Status LayOutManager(const v1::AgentConfig& config, const WorkPaths& paths,
                           const v1::StartLease& lease, const AttemptKey& key, uint32_t uid_base) {
  const fs::path staging = paths.staging(lease.lease().id(), key);
  HOUTU_RETURN_IF_ERROR(RemoveTree(staging));
  HOUTU_RETURN_IF_ERROR(MakeFolders(staging));
  const std::string inside = ContainerTaskDir(key) + "/manager";
  HOUTU_RETURN_IF_ERROR(WriteFor(uid_base, staging / "config.yaml",
                                 ManagerConfigYaml(config, lease.lease(), inside)));
  HOUTU_RETURN_IF_ERROR(WriteFor(uid_base, staging / "token", lease.manager_token()));
  HOUTU_RETURN_IF_ERROR(CopyFor(uid_base, config.manager_tls().ca(), staging / "ca.pem"));
  HOUTU_RETURN_IF_ERROR(
      CopyFor(uid_base, config.manager_tls().certificate(), staging / "certificate.pem"));
  HOUTU_RETURN_IF_ERROR(CopyFor(uid_base, config.manager_tls().key(), staging / "key.pem"));
  const fs::path program = staging / "houtu-jobmanager";
  if (link(paths.manager_program().c_str(), program.c_str()) != 0) {
    return ErrnoError(errno, program.native());
  }
  const fs::path target = paths.task(lease.lease().id(), key) / "manager";
  if (rename(staging.c_str(), target.c_str()) != 0) {
    return ErrnoError(errno, target.native());
  }
  return absl::OkStatus();
}

std::vector<std::string> ManagerCommand(const AttemptKey& key) {
  const std::string folder = ContainerTaskDir(key) + "/manager";
  return {folder + "/houtu-jobmanager", "--config", folder + "/config.yaml"};
}

absl::Status StoreManagerProgram(const fs::path& program, const WorkPaths& paths) {
  const fs::path target = paths.manager_program();
  const fs::path fresh = target.native() + ".new";
  HOUTU_RETURN_IF_ERROR(MakeFolders(target.parent_path()));
  HOUTU_RETURN_IF_ERROR(RemoveTree(fresh));
  HOUTU_RETURN_IF_ERROR(CopyFor(geteuid(), program.native(), fresh));
  if (chmod(fresh.c_str(), 0755) != 0 || rename(fresh.c_str(), target.c_str()) != 0) {
    return ErrnoError(errno, target.native());
  }
  return absl::OkStatus();
}

}  // namespace houtu::agent
