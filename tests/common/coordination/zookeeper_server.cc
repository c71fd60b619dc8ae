#include "tests/common/coordination/zookeeper_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/status.h"
#include "tests/common/coordination/loopback.h"

extern char** environ;

namespace houtu::testing {
namespace {

namespace fs = std::filesystem;

// Ends the server with the thread that started it, also when the test crashes.
constexpr char kSetpriv[] = "/usr/bin/setpriv";
constexpr char kJava[] = "/usr/bin/java";
constexpr char kServerJar[] = "/usr/share/java/zookeeper.jar";
// The server's log: to standard error, which goes into its folder.
constexpr char kLogJar[] = "/usr/share/java/slf4j-simple.jar";
constexpr absl::Duration kPollPeriod = absl::Milliseconds(20);
constexpr size_t kLogTailBytes = 2000;

absl::StatusOr<std::string> MakeFolder() {
  std::string folder = fs::temp_directory_path() / "houtu-zookeeper-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return ErrnoError(errno, "create " + folder);
  return folder;
}

std::vector<std::string> Command(const std::string& folder) {
  return {kSetpriv,
          "--pdeathsig",
          "KILL",
          kJava,
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Xshare:auto",
          "-Dzookeeper.admin.enableServer=false",
          "-Dzookeeper.4lw.commands.whitelist=ruok,srvr",
          "-Dzookeeper.forceSync=no",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          "-cp",
          std::string(kServerJar) + ":" + kLogJar,
          "org.apache.zookeeper.server.ZooKeeperServerMain",
          folder + "/zoo.cfg"};
}

// Whether the server at `port` says that it is in order.
bool SaysImOk(int port) {
  const int fd = ConnectLoopback(port, absl::Seconds(1));
  if (fd < 0) return false;
  char answer[4] = {};
  const bool sent = write(fd, "ruok", 4) == 4;
  const bool ok = sent && read(fd, answer, 4) == 4 && std::memcmp(answer, "imok", 4) == 0;
  close(fd);
  return ok;
}

}  // namespace

std::string ZookeeperServer::WhyNotHere() {
  for (const char* const file : {kSetpriv, kJava, kServerJar, kLogJar}) {
    if (!fs::exists(file)) {
      return fmt::format("{} is missing: install Debian's packages zookeeper and util-linux", file);
    }
  }
  return "";
}

absl::StatusOr<std::unique_ptr<ZookeeperServer>> ZookeeperServer::Start(const Options& options) {
  if (const std::string why = WhyNotHere(); !why.empty()) return absl::NotFoundError(why);
  HOUTU_ASSIGN_OR_RETURN(std::string folder, MakeFolder());
  HOUTU_ASSIGN_OR_RETURN(const int port, FreeLoopbackPort());
  std::unique_ptr<ZookeeperServer> server(new ZookeeperServer(options, std::move(folder), port));
  HOUTU_RETURN_IF_ERROR(server->WriteConfig());
  HOUTU_RETURN_IF_ERROR(server->Restart());
  return server;
}

ZookeeperServer::ZookeeperServer(const Options& options, std::string folder, int port)
    : options_(options), folder_(std::move(folder)), port_(port) {}

ZookeeperServer::~ZookeeperServer() {
  Kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ZookeeperServer::address() const { return fmt::format("127.0.0.1:{}", port_); }

absl::Status ZookeeperServer::WriteConfig() const {
  const int64_t tick_ms = absl::ToInt64Milliseconds(options_.tick);
  std::ofstream config(folder_ + "/zoo.cfg");
  config << "dataDir=" << folder_ << "/data\nclientPort=" << port_
         << "\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\ntickTime=" << tick_ms
         << "\nminSessionTimeout=" << 2 * tick_ms << "\nmaxSessionTimeout=60000\n";
  config.close();
  return config ? absl::OkStatus() : ErrnoError(errno, "write " + folder_ + "/zoo.cfg");
}

void ZookeeperServer::Kill() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

absl::Status ZookeeperServer::Restart() {
  HOUTU_RETURN_IF_ERROR(Spawn());
  return AwaitAnswer();
}

void ZookeeperServer::Pause() { kill(pid_, SIGSTOP); }

void ZookeeperServer::Resume() { kill(pid_, SIGCONT); }

absl::Status ZookeeperServer::Spawn() {
  const std::vector<std::string> command = Command(folder_);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string log = folder_ + "/log";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int error = posix_spawn(&pid_, kSetpriv, &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? absl::OkStatus() : ErrnoError(error, kSetpriv);
}

absl::Status ZookeeperServer::AwaitAnswer() {
  const absl::Time deadline = absl::Now() + options_.start_timeout;
  while (!SaysImOk(port_)) {
    const bool ended = waitpid(pid_, nullptr, WNOHANG) == pid_;
    if (ended) pid_ = 0;
    if (ended || absl::Now() > deadline) {
      return Error(absl::StatusCode::kUnavailable, "the ZooKeeper server {}; its log ends:\n{}",
                   ended ? "ended at once" : "does not answer", LogTail());
    }
    absl::SleepFor(kPollPeriod);
  }
  return absl::OkStatus();
}

std::string ZookeeperServer::LogTail() const {
  std::ifstream file(folder_ + "/log");
  std::stringstream text;
  text << file.rdbuf();
  const std::string log = text.str();
  return log.substr(log.size() - std::min(log.size(), kLogTailBytes));
}

absl::Status ExpireZookeeperSession(const std::string& servers, int64_t session_id,
                                    const std::string& password) {
  clientid_t id{.client_id = session_id, .passwd = {}};
  std::memcpy(id.passwd, password.data(), std::min(password.size(), sizeof(id.passwd)));
  std::binary_semaphore connected(0);
  const auto on_event = [](zhandle_t*, int, int state, const char*, void* context) {
    if (state == ZOO_CONNECTED_STATE) static_cast<std::binary_semaphore*>(context)->release();
  };
  zhandle_t* const handle = zookeeper_init2(servers.c_str(), on_event, 10'000, &id, &connected,
                                            ZOO_NO_LOG_CLIENTENV, [](const char*) {});
  if (handle == nullptr) return ErrnoError(errno, "connect to " + servers);
  const bool in_time = connected.try_acquire_for(std::chrono::seconds(10));
  zookeeper_close(handle);
  return in_time ? absl::OkStatus()
                 : absl::DeadlineExceededError("the session was not taken over within 10 s");
}

}  // namespace houtu::testing
