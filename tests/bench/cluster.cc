#include "tests/bench/cluster.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace houtu::bench {
namespace {

using Words = std::vector<std::string>;

constexpr char kInside[] = "HOUTU_BENCH_INSIDE";
/// No cluster that people start is named so: what a killed run left is ended by the next.
constexpr char kOwnName[] = "benchrun";
constexpr int kNoProcess = -1;

/// What a signal to this program is passed on to; it stays until the cluster is down.
std::atomic<pid_t> child = kNoProcess;
std::atomic<bool> interrupted = false;

void PassOn(int signal_number) {
  const int kept_errno = errno;
  interrupted = true;
  if (const pid_t pid = child; pid != kNoProcess) {
    kill(pid, signal_number);
  }
  errno = kept_errno;
}

std::filesystem::path Self() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// <repository>/deploy/local-cluster, this program being <repository>/build/<preset>/bin/<program>.
std::filesystem::path LocalCluster() {
  const std::filesystem::path preset = Self().parent_path().parent_path();
  return preset.parent_path().parent_path() / "deploy" / "local-cluster";
}

std::vector<char*> Pointers(const Words& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns only if it can't.
int Become(const Words& words) {
  execv(words[0].c_str(), Pointers(words).data());
  std::cerr << words[0] << ": " << std::strerror(errno) << "\n";
  return 1;
}

/// Runs it and waits; its exit status. `quiet`: its outputs are dropped.
int Run(const Words& words, bool quiet) {
  const std::vector<char*> argv = Pointers(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = kNoProcess;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return 1;
  }
  child = pid;
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  child = kNoProcess;
  return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Words Command(const ClusterChoice& choice, const Words& command) {
  Words words = {LocalCluster().native()};
  for (const auto& [option, value] :
       {std::pair("--name", choice.name), std::pair("--dir", choice.dir)}) {
    if (!value.empty()) {
      words.insert(words.end(), {option, value});
    }
  }
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// This program again, in the client network of that cluster.
Words InsideCommand(const ClusterChoice& choice, const Words& arguments) {
  Words words = Command(choice, {"client", "--", Self().native()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// One cluster of a benchmark's own at a time. It is held until this process ends.
bool TakeTurn() {
  const int fd = open(LocalCluster().c_str(), O_RDONLY | O_CLOEXEC);
  return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void CatchSignals() {
  struct sigaction action{};
  action.sa_handler = PassOn;
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(signal_number, &action, nullptr);
  }
}

int RunInOwnCluster(const Words& arguments) {
  const ClusterChoice own{.name = kOwnName};
  const Words down = Command(own, {"down"});
  if (!TakeTurn()) {
    std::cerr << "another benchmark runs, or " << LocalCluster() << " is not there\n";
    return 1;
  }
  CatchSignals();
  setenv("HOUTU_BIN", Self().parent_path().c_str(), /*overwrite=*/1);
  Run(down, /*quiet=*/true);
  int status = Run(Command(own, {"up", "--datacenters", "1", "--nodes", "2"}), /*quiet=*/true);
  if (status != 0) {
    std::cerr << "no cluster; its reason: " << LocalCluster().native() << " up\n";
  } else if (!interrupted) {
    status = Run(InsideCommand(own, arguments), /*quiet=*/false);
  }
  Run(down, /*quiet=*/true);
  return interrupted ? 1 : status;
}

}  // namespace

void AddClusterOptions(CLI::App* app, ClusterChoice* choice) {
  app->add_option("--name", choice->name, "A local cluster that runs, instead of one of its own");
  app->add_option("--dir", choice->dir, "The folder of such a one");
}

bool InCluster() { return getenv(kInside) != nullptr; }

int RunInCluster(const ClusterChoice& choice, const std::vector<std::string>& arguments) {
  setenv(kInside, "1", /*overwrite=*/1);
  return choice.running() ? Become(InsideCommand(choice, arguments)) : RunInOwnCluster(arguments);
}

}  // namespace houtu::bench
