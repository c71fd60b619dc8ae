// The answer to a submission gets lost on the wire, the job does not: a client behind a proxy, real
// masters, a real ZooKeeper (C15).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "client/net/interrupt.h"
#include "client/net/masters.h"
#include "common/base/ids.h"
#include "tests/common/coordination/tcp_proxy.h"
#include "tests/master/service/test_client.h"
#include "tests/master/service/test_cluster.h"

namespace houtu::master {
namespace {

using ::testing::ElementsAre;

int PortOf(const std::string& address) {
  int port = 0;
  HOUTU_CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port),
              "an address ends with its port");
  return port;
}

class LostAnswerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto proxy = testing::TcpProxy::Start(PortOf(master_->address()));
    ASSERT_TRUE(proxy.ok()) << proxy.status();
    proxy_ = *std::move(proxy);
    request_.set_job_id(NewJobId());
    *request_.mutable_job() = SmallJob();
  }

  std::string ProxyAddress() const { return "127.0.0.1:" + std::to_string(proxy_->port()); }

  /// A client that has talked to the first of its masters before: its connection stands.
  std::unique_ptr<client::Masters> Client(const std::vector<std::string>& addresses,
                                          absl::Duration patience = kTestPatience) {
    auto masters = std::make_unique<client::Masters>(
        client::Masters::Options{.addresses = addresses, .connect_timeout = patience}, &channels_,
        &interrupt_);
    EXPECT_TRUE(masters->ListJobs(v1::ListJobsRequest()).ok());
    return masters;
  }
  std::future<absl::StatusOr<v1::SubmitJobResponse>> Submit(client::Masters* client) {
    return std::async(std::launch::async, [this, client] { return client->SubmitJob(request_); });
  }

  std::vector<std::string> RecordedJobs() {
    return cluster_.store()
        ->GetChildren(cluster_.paths().Jobs())
        .value_or(std::vector<std::string>());
  }
  void AwaitRecorded() {
    const absl::Time deadline = absl::Now() + kTestPatience;
    while (RecordedJobs().empty()) {
      ASSERT_LT(absl::Now(), deadline) << "the request arrives";
    }
  }

  TestCluster cluster_;
  std::unique_ptr<MasterProcess> master_ = cluster_.StartLeader("dc1", "m1");
  std::unique_ptr<testing::TcpProxy> proxy_;
  ChannelPool channels_{cluster_.pki().Issue("houtu:client/alice")};
  client::Interrupt interrupt_;
  v1::SubmitJobRequest request_;
};

TEST_F(LostAnswerTest, TheClientAsksAgainAndThereIsOneJob) {
  const auto client = Client({ProxyAddress()});
  proxy_->DropAnswers();
  auto answer = Submit(client.get());
  AwaitRecorded();
  proxy_->Cut();
  proxy_->Heal();
  const auto response = answer.get();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status().id(), request_.job_id());
  EXPECT_THAT(RecordedJobs(), ElementsAre(request_.job_id()));
}

TEST_F(LostAnswerTest, ADamagedConnectionIsNoAnswer) {
  const auto client = Client({ProxyAddress()});
  proxy_->DropAnswers();
  auto answer = Submit(client.get());
  AwaitRecorded();
  proxy_->Heal();  // some of its bytes are missing
  const auto response = answer.get();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status().id(), request_.job_id());
  EXPECT_THAT(RecordedJobs(), ElementsAre(request_.job_id()));
}

TEST_F(LostAnswerTest, TheMasterDiesRightAfterItsWriteAndTheNextAnswersForTheSameJob) {
  const auto next = cluster_.Start("dc1", "m2");
  cluster_.AwaitAnswer("dc1", *next);
  const auto client = Client({ProxyAddress(), next->address()});
  proxy_->DropAnswers();
  auto answer = Submit(client.get());
  AwaitRecorded();
  master_->Kill();
  proxy_->Cut();
  const auto response = answer.get();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status().id(), request_.job_id());
  EXPECT_THAT(RecordedJobs(), ElementsAre(request_.job_id()));
}

TEST_F(LostAnswerTest, WhereNoAnswerEverComesTheJobIsThereOnceAllTheSame) {
  const auto client = Client({ProxyAddress()}, absl::Seconds(2));
  proxy_->DropAnswers();
  const absl::Status status = Submit(client.get()).get().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(RecordedJobs(), ElementsAre(request_.job_id()));
}

}  // namespace
}  // namespace houtu::master
