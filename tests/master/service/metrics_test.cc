// What a master's HTTP port answers, with names that no scraper expects (C29).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/time/clock.h"
#include "common/base/ids.h"
#include "tests/master/service/test_client.h"
#include "tests/master/service/test_cluster.h"

namespace houtu::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What `promtool check metrics` says of the page; empty: nothing.
std::string Promtool(const std::string& page) {
  const std::string file = std::filesystem::temp_directory_path() / ("houtu-page-" + NewJobId());
  std::ofstream(file) << page;
  const std::string command = "/usr/bin/promtool check metrics < " + file + " 2>&1";
  std::string said;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[512];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) said += buffer;
  const int status = ::pclose(pipe);
  std::filesystem::remove(file);
  return status == 0 ? said : said + "(status " + std::to_string(status) + ")";
}

/// The page once it holds `line`: what is counted of the cluster is told a moment later.
std::string PageWith(const MasterProcess& master, const std::string& line) {
  const absl::Time deadline = absl::Now() + kTestPatience;
  std::string page = master.HttpGet("/metrics");
  while (page.find(line) == std::string::npos && absl::Now() < deadline) {
    page = master.HttpGet("/metrics");
  }
  EXPECT_THAT(page, HasSubstr(line));
  return page;
}

TEST(MasterMetricsTest, OddNamesOfJobsAndDatacentersBreakNoPage) {
  TestCluster cluster;
  const std::string datacenter = "dc-\"1\"";
  const auto master = cluster.StartLeader(datacenter);
  TestAgent agent(cluster.Channel("agent/" + datacenter + "/n\"1\\", master->address()), datacenter,
                  "n\"1\\");
  agent.Register();
  const TestClient client(cluster.Channel("client/alice", master->address()));
  const auto with_newline = client.Submit(NewJobId(), SmallJob("a\"b\\c\nx 1"));
  const auto without = client.Submit(NewJobId(), SmallJob("a\"b\\c x 1"));
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_TRUE(with_newline.ok() || absl::IsInvalidArgument(with_newline.status()));
  EXPECT_EQ(client.Get(without->status().id())->job().name(), "a\"b\\c x 1");
  agent.NextStart();

  const std::string page = PageWith(*master, "houtu_nodes{state=\"ready\"} 1\n");
  EXPECT_THAT(page, HasSubstr("houtu_master_is_leader 1\n"));
  EXPECT_THAT(page, HasSubstr("houtu_nodes{state=\"lost\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("houtu_jobs_submitted_total 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("\nx 1")));
  if (std::filesystem::exists("/usr/bin/promtool")) {
    EXPECT_EQ(Promtool(page), "");
  }
  std::set<std::string> series;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << "twice: " << line;
  }
  // One event is one line in the log too.
  EXPECT_THAT(master->Log(), HasSubstr("node=\"n\\\"1\\\\\""));
}

TEST(MasterMetricsTest, AMasterIsReadyWhenItLeadsAndAStandbySaysWhoDoes) {
  TestCluster cluster;
  const auto leader = cluster.StartLeader("dc1", "m1");
  const auto standby = cluster.Start("dc1", "m2");
  cluster.AwaitAnswer("dc1", *standby);
  EXPECT_EQ(leader->HttpGet("/healthz"), "ok\n");
  EXPECT_EQ(leader->HttpGet("/readyz"), "ok\n");
  EXPECT_EQ(standby->HttpGet("/healthz"), "ok\n");
  EXPECT_THAT(standby->HttpGet("/readyz"), Not(HasSubstr("ok")));
  EXPECT_THAT(standby->HttpGet("/metrics"), HasSubstr("houtu_master_is_leader 0\n"));
}

}  // namespace
}  // namespace houtu::master
