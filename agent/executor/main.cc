// houtu-executor: the first process of a lease's container (executor.h).
//   houtu-executor [--root=DIR] [--local-peers]
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/executor/executor.h"

namespace {

constexpr int kExitUsage = 2;
constexpr std::string_view kRootFlag = "--root=";

bool Parse(int argc, char** argv, houtu::agent::ExecutorOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with(kRootFlag)) {
      options.root = arg.substr(kRootFlag.size());
    } else if (arg == "--local-peers") {
      options.local_peers = true;
    } else {
      return false;
    }
  }
  return true;
}

/// Descriptors 0 to 2 become the container's own /dev/null: one of the host's could not be
/// checkpointed. Tasks inherit 0.
bool UseDevNull() {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
    if (fd != standard && dup2(fd, standard) < 0) return false;
  }
  if (fd > STDERR_FILENO) close(fd);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  houtu::agent::ExecutorOptions options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--root=DIR] [--local-peers]\n", argv[0]);
    return kExitUsage;
  }
  // Tasks run under the same user id: they may not trace or read this process.
  prctl(PR_SET_DUMPABLE, 0);
  houtu::agent::Executor executor(std::move(options));
  std::string what;
  if (const int error_number = executor.Open(what); error_number != 0) {
    std::fprintf(stderr, "houtu-executor: %s: %s\n", what.c_str(), std::strerror(error_number));
    return 1;
  }
  if (!UseDevNull()) {
    std::perror("houtu-executor: /dev/null");
    return 1;
  }
  executor.Run();
}
