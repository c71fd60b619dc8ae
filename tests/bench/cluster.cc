#include "tests/bench/cluster.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace houtu::bench {
namespace {

constexpr char kInside[] = "HOUTU_BENCH_INSIDE";
constexpr char kName[] = "bench";

/// Runs it and waits. `quiet`: its outputs are dropped.
int Run(const std::vector<std::string>& argv, bool quiet) {
  std::vector<char*> pointers;
  for (const std::string& word : argv) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = 0;
  const int error = posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
    return 1;
  }
  return WEXITSTATUS(status);
}

std::vector<std::string> Command(std::initializer_list<std::string> words) {
  std::vector<std::string> argv = {LocalCluster(), "--name", kName};
  argv.insert(argv.end(), words);
  return argv;
}

}  // namespace

std::string LocalCluster() {
  // <repository>/build/<preset>/bin/<program>
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path().parent_path().parent_path().parent_path() / "deploy" / "local-cluster";
}

bool InCluster() { return getenv(kInside) != nullptr; }

int RunInCluster(const std::vector<std::string>& argv) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  setenv("HOUTU_BIN", self.parent_path().c_str(), /*overwrite=*/1);
  Run(Command({"down"}), /*quiet=*/true);  // what a run that was killed left
  if (Run(Command({"up", "--datacenters", "1", "--nodes", "2"}), /*quiet=*/true) != 0) {
    std::cerr << "no cluster: try " << LocalCluster() << " --name " << kName << " up\n";
    return 1;
  }
  setenv(kInside, "1", /*overwrite=*/1);
  std::vector<std::string> inside = Command({"client", "--", self.native()});
  inside.insert(inside.end(), argv.begin(), argv.end());
  const int status = Run(inside, /*quiet=*/false);
  Run(Command({"down"}), /*quiet=*/true);
  return status;
}

}  // namespace houtu::bench
