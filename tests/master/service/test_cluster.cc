#include "tests/master/service/test_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <sstream>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/check.h"
#include "common/base/ids.h"
#include "common/coordination/zookeeper.h"
#include "common/rpc/call.h"
#include "houtu/v1/master_service.grpc.pb.h"
#include "tests/common/coordination/loopback.h"

extern char** environ;

namespace houtu::master {
namespace {

namespace fs = std::filesystem;

/// Long enough for a loaded machine; nothing waits so long when all is well.
constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr absl::Duration kPollPeriod = absl::Milliseconds(10);
/// What a dead master's standby waits for.
constexpr int kSessionSeconds = 2;

testing::ZookeeperServer& SharedServer() {
  static auto server = testing::ZookeeperServer::Start();
  HOUTU_CHECK(server.ok(), server.status().ToString());
  return **server;
}

int FreePort() {
  const absl::StatusOr<int> port = testing::FreeLoopbackPort();
  HOUTU_CHECK(port.ok(), port.status().ToString());
  return *port;
}

std::string Single(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string ConfigYaml(const v1::MasterConfig& config) {
  return fmt::format(
      "datacenter: {}\nname: {}\naddress: {}\nhttp_address: {}\n"
      "tls: {{ca: {}, certificate: {}, key: {}}}\n"
      "zookeeper: {{servers: ['{}'], root: {}, session_timeout: {}s}}\n",
      Single(config.datacenter()), config.name(), config.address(), config.http_address(),
      config.tls().ca(), config.tls().certificate(), config.tls().key(),
      config.zookeeper().servers(0), config.zookeeper().root(), kSessionSeconds);
}

}  // namespace

MasterProcess::MasterProcess(const v1::MasterConfig& config, std::string folder)
    : config_(config), folder_(std::move(folder)) {
  const std::string path = folder_ + "/" + config.name() + ".yaml";
  std::ofstream(path) << ConfigYaml(config);
  const std::string log = folder_ + "/" + config.name() + ".log";
  std::string words[] = {"/usr/bin/setpriv",   "--pdeathsig", "KILL",
                         HOUTU_MASTER_PROGRAM, "--config",    path};
  char* argv[std::size(words) + 1] = {};
  for (size_t i = 0; i < std::size(words); ++i) argv[i] = words[i].data();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int error = posix_spawn(&pid_, argv[0], &files, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  HOUTU_CHECK(error == 0, "setpriv starts");
}

MasterProcess::~MasterProcess() { Kill(); }

void MasterProcess::Kill() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
}

int MasterProcess::Stop() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string MasterProcess::Log() const {
  std::stringstream text;
  text << std::ifstream(folder_ + "/" + config_.name() + ".log").rdbuf();
  return text.str();
}

std::string MasterProcess::HttpGet(const std::string& path) const {
  const std::string& address = config_.http_address();
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const int fd = testing::ConnectLoopback(port, absl::Seconds(5));
  if (fd < 0) return "";
  const std::string request = fmt::format("GET {} HTTP/1.0\r\n\r\n", path);
  std::string answer;
  if (::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof(buffer))) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
  }
  ::close(fd);
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

TestStore::TestStore(const std::string& servers, const std::string& root) {
  auto opened = coordination::ZookeeperCoordination::Start(
      {.servers = servers, .root = root},
      [this](std::function<void()> f) { loop_.Post(std::move(f)); });
  HOUTU_CHECK(opened.ok(), opened.status().ToString());
  session_ = *std::move(opened);
  blocking_ = std::make_unique<coordination::BlockingCoordination>(session_.get(), kPatience);
  const absl::Status connected = blocking_->AwaitConnected();
  HOUTU_CHECK(connected.ok(), connected.ToString());
}

TestStore::~TestStore() {
  std::promise<void> ended;
  loop_.Post([this, &ended] {
    session_.reset();
    ended.set_value();
  });
  ended.get_future().wait();
}

TestCluster::TestCluster()
    : folder_(fs::temp_directory_path() / ("houtu-masters-" + NewJobId())),
      root_("/" + NewJobId()) {
  fs::create_directory(folder_);
  store_ = std::make_unique<TestStore>(SharedServer().address(), root_);
}

TestCluster::~TestCluster() { fs::remove_all(folder_); }

std::unique_ptr<MasterProcess> TestCluster::Start(const std::string& datacenter,
                                                  const std::string& name) {
  v1::MasterConfig config;
  config.set_datacenter(datacenter);
  config.set_name(name);
  config.set_address(fmt::format("127.0.0.1:{}", FreePort()));
  config.set_http_address(fmt::format("127.0.0.1:{}", FreePort()));
  *config.mutable_tls() = pki_.IssueFiles("houtu:master/" + datacenter, folder_, name);
  config.mutable_zookeeper()->add_servers(SharedServer().address());
  config.mutable_zookeeper()->set_root(root_);
  return std::make_unique<MasterProcess>(config, folder_);
}

absl::Status TestCluster::Describe(const std::string& datacenter, const MasterProcess& master) {
  const auto stub = v1::MasterService::NewStub(Channel("master/" + datacenter, master.address()));
  grpc::ClientContext context;
  SetDeadline(&context, kPatience);
  context.set_wait_for_ready(true);  // a connection is made only while somebody waits for it
  v1::DescribeDatacenterRequest request;
  request.set_summary(true);
  v1::DescribeDatacenterResponse response;
  return FromGrpc(stub->DescribeDatacenter(&context, request, &response));
}

void TestCluster::AwaitAnswer(const std::string& datacenter, const MasterProcess& master) {
  const absl::Status status = Describe(datacenter, master);
  HOUTU_CHECK(!absl::IsDeadlineExceeded(status), "the master answers; its log:\n" + master.Log());
}

void TestCluster::AwaitLeader(const std::string& datacenter, const MasterProcess& master) {
  const absl::Time deadline = absl::Now() + kPatience;
  for (absl::Status status = Describe(datacenter, master); !status.ok();
       status = Describe(datacenter, master)) {
    HOUTU_CHECK(absl::Now() < deadline,
                status.ToString() + "; the log of the master:\n" + master.Log());
    absl::SleepFor(kPollPeriod);
  }
}

std::unique_ptr<MasterProcess> TestCluster::StartLeader(const std::string& datacenter,
                                                        const std::string& name) {
  std::unique_ptr<MasterProcess> master = Start(datacenter, name);
  AwaitLeader(datacenter, *master);
  return master;
}

std::shared_ptr<grpc::Channel> TestCluster::Channel(const std::string& role,
                                                    const std::string& address) {
  std::unique_ptr<ChannelPool>& pool = pools_[role];
  if (pool == nullptr) pool = std::make_unique<ChannelPool>(pki_.Issue("houtu:" + role));
  return pool->Get(address);
}

}  // namespace houtu::master
