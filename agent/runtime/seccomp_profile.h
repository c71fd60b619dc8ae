// The system calls that no task may make, as runc's configuration wants them told.
#pragma once

#include <nlohmann/json.hpp>

namespace houtu::agent {

/// linux.seccomp of config.json. A list of what is refused, not of what is allowed: a task has no
/// capability at all, so what is left to refuse is what widens the kernel's surface for somebody
/// without any (user namespaces, bpf, io_uring, key rings, …); and programs of every kind go on
/// working with a kernel that is newer than this list. Pure.
nlohmann::json SeccompProfile();

}  // namespace houtu::agent
