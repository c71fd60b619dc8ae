// Job managers' sessions: who is let in, and what a manager is told.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "common/base/status.h"
#include "tests/agent/service/test_agent.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kJob[] = "j0000000000000000001";
constexpr char kOtherJob[] = "j0000000000000000002";
const std::string kToken(32, 't');
const std::string kOtherToken(32, 'o');

class SessionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "an agent gives folders to containers' users: root alone can";
    }
    agent_ = std::make_unique<TestAgent>(&pki_, &machine_);
    agent_->Lease("l1", kJob, kToken);
  }

  TestPki pki_;
  TestMachine machine_;
  std::unique_ptr<TestAgent> agent_;
};

TEST_F(SessionsTest, AManagerWithItsJobsTokenRunsATaskToItsCommittedEnd) {
  TestManager manager(&pki_, *agent_);
  manager.Hello(kJob, kToken);
  EXPECT_THAT(manager.Welcome(), IsEmpty());
  const v1::TaskSpec spec = SpecOf(kJob, "l1", 0);
  manager.Start({spec});
  manager.Await(spec, v1::TaskReport::STATE_RUNNING);
  agent_->Write(spec, "0", "result");
  agent_->EndTask(spec);
  const v1::TaskReport report = manager.Await(spec, v1::TaskReport::STATE_ENDED);
  EXPECT_EQ(report.end_reason(), v1::TASK_END_REASON_SUCCEEDED) << report.message();
  ASSERT_THAT(report.partitions(), SizeIs(1));
  EXPECT_EQ(report.partitions(0).size_bytes(), 6);
  EXPECT_TRUE(agent_->store().List(KeyOf(spec.id())).ok()) << "committed before it is told";
}

TEST_F(SessionsTest, OnlyAManagersCertificateOpensASession) {
  for (const char* role :
       {"houtu:agent/dc1/n1", "houtu:master/dc1", "houtu:client/alice", "houtu:admin/root"}) {
    TestManager caller(&pki_, *agent_, role);
    caller.Hello(kJob, kToken);
    const absl::Status status = caller.End();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << role << ": " << status;
  }
}

TEST_F(SessionsTest, WithoutACertificateOfTheClusterNobodyIsHeard) {
  TestPki stranger;
  TestManager caller(&stranger, *agent_);
  caller.Hello(kJob, kToken);
  EXPECT_TRUE(absl::IsUnavailable(caller.End()));

  const std::string ca = pki_.Issue("houtu:manager/dc1/n1").ca;
  for (const auto& credentials :
       {grpc::InsecureChannelCredentials(),
        grpc::SslCredentials(
            {.pem_root_certs = ca, .pem_private_key = "", .pem_cert_chain = ""})}) {
    const auto stub =
        v1::AgentService::NewStub(grpc::CreateChannel(agent_->address(), credentials));
    grpc::ClientContext context;
    const auto stream = stub->Session(&context);
    v1::TaskMessage message;
    EXPECT_FALSE(stream->Read(&message));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_F(SessionsTest, AnotherJobsTokenOpensNothing) {
  agent_->Lease("l2", kOtherJob, kOtherToken);
  for (const std::string& token : {kOtherToken, std::string(), std::string("t")}) {
    TestManager manager(&pki_, *agent_);
    manager.Hello(kJob, token);
    const absl::Status status = manager.End();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  }
}

TEST_F(SessionsTest, AJobWithoutALeaseHereIsRefused) {
  TestManager manager(&pki_, *agent_);
  manager.Hello(kOtherJob, kToken);
  const absl::Status status = manager.End();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("holds no lease on n1"));
}

TEST_F(SessionsTest, AManagerSpeaksForTheDatacenterOfItsCertificateAlone) {
  TestManager manager(&pki_, *agent_, "houtu:manager/dc2/n9");
  manager.Hello(kJob, kToken);
  const absl::Status status = manager.End();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("may not speak for datacenter"));
}

TEST_F(SessionsTest, ASessionBeginsWithTheHello) {
  TestManager manager(&pki_, *agent_);
  manager.Start({SpecOf(kJob, "l1", 0)});
  EXPECT_TRUE(absl::IsInvalidArgument(manager.End()));
}

TEST_F(SessionsTest, AManagerOfAnOlderTermIsRefused) {
  TestManager newer(&pki_, *agent_);
  newer.Hello(kJob, kToken, /*term=*/3);
  newer.Welcome();
  TestManager older(&pki_, *agent_);
  older.Hello(kJob, kToken, /*term=*/2);
  const absl::Status status = older.End();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("stale term 2, the newest is 3"));
}

TEST_F(SessionsTest, ANewerSessionEndsTheOlder) {
  TestManager older(&pki_, *agent_);
  older.Hello(kJob, kToken);
  older.Welcome();
  TestManager newer(&pki_, *agent_);
  newer.Hello(kJob, kToken, /*term=*/2);
  newer.Welcome();
  EXPECT_TRUE(absl::IsAborted(older.End()));
}

TEST_F(SessionsTest, EachOfManyTasksEndIsTold) {
  TestManager manager(&pki_, *agent_);
  manager.Hello(kJob, kToken);
  manager.Welcome();
  std::vector<v1::TaskSpec> specs;
  for (int i = 0; i < 300; ++i) {
    specs.push_back(SpecOf(kJob, "l1", i, "ends"));
  }
  manager.Start(specs);
  size_t ended = 0;
  while (ended < specs.size()) {
    const absl::StatusOr<v1::TaskMessage> message = manager.Next();
    ASSERT_TRUE(message.ok()) << message.status();
    for (const v1::TaskReport& report : message->reports().reports()) {
      ended += report.state() == v1::TaskReport::STATE_ENDED ? 1 : 0;
    }
  }
  TestManager next(&pki_, *agent_);
  next.Hello(kJob, kToken, /*term=*/2);
  EXPECT_THAT(next.Welcome(), SizeIs(300)) << "until they are acknowledged";
  next.Acknowledge(specs);
  TestManager last(&pki_, *agent_);
  next.Start({SpecOf(kJob, "l1", 999)});  // taken after the acknowledgement
  next.Await(SpecOf(kJob, "l1", 999), v1::TaskReport::STATE_RUNNING);
  last.Hello(kJob, kToken, /*term=*/3);
  EXPECT_THAT(last.Welcome(), SizeIs(1));
}

TEST_F(SessionsTest, AStagesNameLeadsNowhereElse) {
  TestManager manager(&pki_, *agent_);
  manager.Hello(kJob, kToken);
  manager.Welcome();
  for (const char* stage : {"../../../../escaped", "..", "", "@manager", "a/b"}) {
    v1::TaskSpec spec = SpecOf(kJob, "l1", 0);
    spec.mutable_id()->set_stage(stage);
    manager.Start({spec});
    const absl::StatusOr<v1::TaskMessage> message = manager.Next();
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_TRUE(message->has_refused()) << stage;
  }
  v1::TaskSpec reads = SpecOf(kJob, "l1", 0);
  reads.add_upstream()->set_stage("../..");
  manager.Start({reads});
  EXPECT_TRUE(manager.Next()->has_refused());
}

TEST_F(SessionsTest, AManagerDiscardsNoOtherJobsOutputs) {
  const AttemptKey other{.job = kOtherJob, .stage = "s", .task = 0, .attempt = 1};
  const AttemptKey own{.job = kJob, .stage = "s", .task = 0, .attempt = 1};
  for (const AttemptKey& id : {other, own}) {
    const fs::path dir = machine_.folder.path() / id.job;
    houtu::testing::WriteText(dir / "out" / "0", "precious");
    ASSERT_TRUE(agent_->store().Commit(id, dir, {}).ok());
  }
  TestManager manager(&pki_, *agent_);
  manager.Hello(kJob, kToken);
  manager.Welcome();
  v1::TaskCommand command;
  v1::AttemptId& lie = *command.mutable_acknowledge()->add_discard();
  lie.set_job(kJob);
  lie.set_stage(std::string("../") + kOtherJob + "/s");
  lie.set_attempt(1);
  *command.mutable_acknowledge()->add_discard() = ToProto(other);
  *command.mutable_acknowledge()->add_discard() = ToProto(own);
  manager.Send(command);
  while (agent_->store().List(own).ok()) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(agent_->store().List(other).ok());
}

}  // namespace
}  // namespace houtu::agent
