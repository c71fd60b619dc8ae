#include "tests/agent/runtime/runc_under_test.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "agent/runtime/container_process.h"
#include "agent/runtime/lease_folder.h"

namespace houtu::testing {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kUidBase = 200000;
constexpr int kWaitMs = 30'000;
constexpr int64_t kLeaseMemory = 256 << 20;

/// In every hierarchy: runc makes the parent also where we have no limits.
void RemoveCgroupParent(const std::string& parent) {
  std::error_code ignored;
  rmdir((fs::path("/sys/fs/cgroup") / parent).c_str());
  for (fs::directory_iterator it("/sys/fs/cgroup", ignored), end; it != end;
       it.increment(ignored)) {
    rmdir((it->path() / parent).c_str());
  }
}

/// Not below /tmp, which a container does not see anyway.
fs::path MakeWorkDir() {
  std::string name = "/var/tmp/houtu-runc-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return {};
  // The container's own root must reach its files.
  chmod(name.c_str(), 0755);
  return name;
}

}  // namespace

std::unique_ptr<RuncUnderTest> RuncUnderTest::MakeRunc(std::string* why_not) {
  if (geteuid() != 0) {
    *why_not = "containers can be started by root alone";
    return nullptr;
  }
  auto node = std::unique_ptr<RuncUnderTest>(new RuncUnderTest(MakeWorkDir()));
  auto runtime = agent::RuncRuntime::Create(node->options_);
  if (!runtime.ok()) {
    *why_not = runtime.status().ToString();
    return nullptr;
  }
  node->runtime_ = std::move(*runtime);
  return node;
}

RuncUnderTest::RuncUnderTest(fs::path work_dir)
    : work_dir_(std::move(work_dir)),
      options_{.state_dir = work_dir_ / "runc",
               .program_dir = HOUTU_PROGRAM_DIR,
               .cgroup_parent = "houtu-test-" + std::to_string(getpid()),
               .masked_paths = {work_dir_}},
      rootfs_({.images_dir = work_dir_ / "images", .image_roots = {image_root()}}) {}

RuncUnderTest::~RuncUnderTest() {
  for (const agent::ContainerSpec& spec : specs_) {
    if (runtime_ != nullptr) {
      runtime_->DestroyContainer(spec.lease_id, spec.lease_dir).IgnoreError();
    }
    rootfs_.Release(spec.lease_dir).IgnoreError();
  }
  runtime_.reset();
  RemoveCgroupParent(options_.cgroup_parent);
  std::error_code ignored;
  if (!work_dir_.empty()) fs::remove_all(work_dir_, ignored);
}

void RuncUnderTest::Restart() {
  runtime_.reset();
  runtime_ = std::move(agent::RuncRuntime::Create(options_)).value();
}

agent::ContainerSpec RuncUnderTest::Spec(const std::string& lease_id) {
  const fs::path lease_dir = work_dir_ / "leases" / lease_id;
  fs::create_directories(lease_dir);
  agent::ContainerSpec spec = {.lease_id = lease_id,
                               .lease_dir = lease_dir,
                               .rootfs = rootfs_.Prepare("host", lease_dir).value(),
                               .limits = Resources(1000, kLeaseMemory),
                               .pids_max = 64,
                               .uid_base = kUidBase};
  specs_.push_back(spec);
  return spec;
}

std::vector<std::string> RuncUnderTest::Command(Program program) {
  switch (program) {
    case Program::kSucceeds:
      return {"true"};
    case Program::kExitsWith3:
      return {"sh", "-c", "exit 3"};
    case Program::kLasts:
      return {"sleep", "1000"};
    case Program::kIgnoresTerm:
      return {"sh", "-c", "trap '' TERM; : > ready; sleep 1000"};
    case Program::kEatsMemory:
      return {"tail", "/dev/zero"};
    case Program::kAbsent:
      return {"no-such-program"};
    case Program::kNotExecutable:
      return {"/etc/hosts"};
  }
  return {};
}

void RuncUnderTest::PrepareTask(const agent::ContainerSpec& spec, const AttemptKey& id) {
  const absl::Status status = agent::PrepareTaskDir(spec.lease_dir, id, spec.uid_base);
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

void RuncUnderTest::AwaitIgnoresTerm(const agent::ContainerSpec& spec, const AttemptKey& id) {
  AwaitFile(agent::LeaseFolder(spec.lease_dir).task(id) / "work" / "ready");
}

void RuncUnderTest::KillFirstProcess(const agent::ContainerSpec& spec) {
  const auto process = agent::ContainerProcess::Read(agent::LeaseFolder(spec.lease_dir)).value();
  kill(process.pid, SIGKILL);
}

bool AwaitFile(const fs::path& file) {
  const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  inotify_add_watch(fd, file.parent_path().c_str(), IN_CREATE | IN_MOVED_TO);
  bool in_time = true;
  while (in_time && access(file.c_str(), F_OK) != 0) {
    pollfd wait = {fd, POLLIN, 0};
    in_time = poll(&wait, 1, kWaitMs) > 0;
    char events[4096];
    [[maybe_unused]] const ssize_t n = read(fd, events, sizeof(events));
  }
  close(fd);
  return in_time;
}

}  // namespace houtu::testing
