#include "agent/runtime/seccomp_profile.h"

#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace houtu::agent {
namespace {

using nlohmann::json;

/// Refused with EPERM. Each stands for a family; a name that the machine's libseccomp or processor
/// does not know is skipped by runc.
constexpr const char* kRefused[] = {
    // Mounts and namespaces: a new user namespace would give its maker capabilities again.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns",
    // Files by handle reach past the root.
    "open_by_handle_at",
    // Parts of the kernel with a long record of holes that batch programs do not need.
    "bpf", "userfaultfd", "perf_event_open", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "lookup_dcookie", "kcmp",
    "fanotify_init", "pidfd_getfd",
    // The machine itself.
    "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "query_module", "get_kernel_syms", "swapon", "swapoff", "acct", "quotactl",
    "quotactl_fd", "syslog", "settimeofday", "stime", "clock_settime", "clock_settime64",
    "sethostname", "setdomainname", "iopl", "ioperm", "vhangup", "nfsservctl", "_sysctl", "sysfs",
    "ustat", "uselib", "vm86", "vm86old", "move_pages", "migrate_pages"};

constexpr uint64_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

/// Socket families that reach the kernel's rarer protocols or the machine's monitor.
constexpr int kRefusedFamilies[] = {AF_VSOCK, AF_ALG, AF_KEY, AF_PACKET, AF_TIPC, AF_RDS};

json Refuse(json names, int error_number) {
  return {{"names", std::move(names)}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", error_number}};
}

json Argument(int index, uint64_t value, const char* op) {
  return {{"index", index}, {"value", value}, {"op", op}};
}

/// clone with any flag of a new namespace: libseccomp compares one masked value, so one rule a
/// flag.
void RefuseNamespaces(json& rules) {
  for (uint64_t flag = 1; flag <= kNamespaceFlags; flag <<= 1) {
    if ((kNamespaceFlags & flag) == 0) continue;
    json rule = Refuse({"clone"}, EPERM);
    json argument = Argument(0, flag, "SCMP_CMP_MASKED_EQ");
    argument["valueTwo"] = flag;
    rule["args"] = json::array({std::move(argument)});
    rules.push_back(std::move(rule));
  }
  // Its flags lie in memory, which no filter can read. ENOSYS makes libraries fall back to clone.
  rules.push_back(Refuse({"clone3"}, ENOSYS));
}

void RefuseFamilies(json& rules) {
  for (const int family : kRefusedFamilies) {
    json rule = Refuse({"socket"}, EAFNOSUPPORT);
    rule["args"] = json::array({Argument(0, static_cast<uint64_t>(family), "SCMP_CMP_EQ")});
    rules.push_back(std::move(rule));
  }
}

/// The processor's, with those of older programs that its kernel runs, too: they must not be a way
/// around the rules.
json Architectures() {
#if defined(__x86_64__)
  return {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};
#elif defined(__aarch64__)
  return {"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"};
#else
#error "name this processor's architectures as libseccomp does"
#endif
}

}  // namespace

json SeccompProfile() {
  json rules = json::array();
  rules.push_back(Refuse(json(kRefused), EPERM));
  RefuseNamespaces(rules);
  RefuseFamilies(rules);
  return {{"defaultAction", "SCMP_ACT_ALLOW"},
          {"architectures", Architectures()},
          {"syscalls", std::move(rules)}};
}

}  // namespace houtu::agent
