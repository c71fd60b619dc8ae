// Who may call what: certificates' roles, accounts, tokens.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include "common/base/ids.h"
#include "houtu/v1/master_service.grpc.pb.h"
#include "houtu/v1/record.pb.h"
#include "tests/master/service/test_client.h"
#include "tests/master/service/test_cluster.h"

namespace houtu::master {
namespace {

using ::testing::HasSubstr;

class RolesTest : public ::testing::Test {
 protected:
  RolesTest() : master_(cluster_.StartLeader("dc1")) {}

  std::shared_ptr<grpc::Channel> As(const std::string& role) {
    return cluster_.Channel(role, master_->address());
  }
  TestClient Client(const std::string& role) { return TestClient(As(role)); }
  absl::Status Registers(const std::string& role, const std::string& datacenter,
                         const std::string& node) {
    TestAgent agent(As(role), datacenter, node);
    agent.Register();
    return agent.stream().AwaitEnd();
  }
  absl::Status SaysHello(const std::string& role, const std::string& job, const std::string& token,
                         const std::string& datacenter = "dc1") {
    TestManager manager(As(role));
    manager.Hello(job, datacenter, token);
    return manager.stream().AwaitEnd();
  }
  std::string SubmitAs(const std::string& role) {
    const std::string id = NewJobId();
    const auto answer = Client(role).Submit(id, SmallJob());
    EXPECT_TRUE(answer.ok()) << answer.status();
    return id;
  }
  std::string TokenOf(const std::string& job) {
    v1::JobRecord record;
    record.ParseFromString(cluster_.store()->Get(cluster_.paths().Job(job)).value().data);
    return record.token();
  }

  TestCluster cluster_;
  const std::unique_ptr<MasterProcess> master_;
};

TEST_F(RolesTest, ACallerWithoutACertificateDoesNotGetThrough) {
  const TlsMaterial ours = cluster_.pki().Issue("houtu:client/alice");
  const std::shared_ptr<grpc::ChannelCredentials> without[] = {
      grpc::InsecureChannelCredentials(),
      grpc::SslCredentials(
          {.pem_root_certs = ours.ca, .pem_private_key = "", .pem_cert_chain = ""})};
  for (const auto& credentials : without) {
    const TestClient client(grpc::CreateChannel(master_->address(), credentials));
    const absl::Status refused = client.List().status();
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  }
}

TEST_F(RolesTest, ACertificateOfAnotherAuthorityDoesNotGetThrough) {
  TlsMaterial foreign = TestPki().Issue("houtu:admin/mallory");
  foreign.ca = cluster_.pki().Issue("houtu:client/alice").ca;
  ChannelPool pool(foreign);
  const absl::Status refused = TestClient(pool.Get(master_->address())).List().status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
}

TEST_F(RolesTest, ACertificateWithoutARoleIsNobodys) {
  for (const char* uri : {"urn:something", "houtu:root/alice", "houtu:client/"}) {
    ChannelPool pool(cluster_.pki().Issue(uri));
    const absl::Status refused = TestClient(pool.Get(master_->address())).List().status();
    EXPECT_TRUE(absl::IsUnauthenticated(refused)) << refused;
  }
}

TEST_F(RolesTest, OnlyClientsUseTheClientsService) {
  for (const char* role : {"agent/dc1/n1", "manager/dc1/n1", "master/dc1"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Client(role).Submit(NewJobId(), SmallJob()).status()));
    EXPECT_TRUE(absl::IsPermissionDenied(Client(role).List().status()));
    grpc::ClientContext context;
    SetDeadline(&context, kTestPatience);
    v1::GetJobRequest request;
    const auto watch = Client(role).stub().WatchJob(&context, request);
    v1::JobStatus status;
    EXPECT_FALSE(watch->Read(&status));
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
}

TEST_F(RolesTest, OnlyMastersUseTheMastersService) {
  for (const char* role : {"client/alice", "admin/root", "agent/dc1/n1", "manager/dc1/n1"}) {
    const auto stub = v1::MasterService::NewStub(As(role));
    EXPECT_TRUE(absl::IsPermissionDenied(
        Call(stub.get(), &v1::MasterService::Stub::ForwardJob, v1::ForwardJobRequest()).status()));
    EXPECT_TRUE(
        absl::IsPermissionDenied(Call(stub.get(), &v1::MasterService::Stub::DescribeDatacenter,
                                      v1::DescribeDatacenterRequest())
                                     .status()));
  }
}

TEST_F(RolesTest, OnlyANodesOwnAgentRegistersIt) {
  for (const char* role : {"client/alice", "admin/root", "manager/dc1/n1", "master/dc1"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Registers(role, "dc1", "n1"))) << role;
  }
  EXPECT_TRUE(absl::IsPermissionDenied(Registers("agent/dc1/n2", "dc1", "n1")));
  EXPECT_TRUE(absl::IsPermissionDenied(Registers("agent/dc2/n1", "dc1", "n1")));
  EXPECT_TRUE(absl::IsPermissionDenied(Registers("agent/dc2/n1", "dc2", "n1")));
  const absl::Status other = Registers("agent/dc1/n2", "dc1", "n1");
  EXPECT_THAT(std::string(other.message()), HasSubstr("agent dc1/n2 may not register node n1"));
}

TEST_F(RolesTest, AManagerNeedsItsRoleAndItsOwnJobsToken) {
  const std::string mine = SubmitAs("client/alice");
  const std::string other = SubmitAs("client/bob");
  for (const char* role : {"client/alice", "admin/root", "agent/dc1/n1", "master/dc1"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(SaysHello(role, mine, TokenOf(mine)))) << role;
  }
  EXPECT_TRUE(absl::IsPermissionDenied(SaysHello("manager/dc1/n1", mine, TokenOf(other))));
  EXPECT_TRUE(absl::IsPermissionDenied(SaysHello("manager/dc1/n1", mine, "")));
  EXPECT_TRUE(absl::IsPermissionDenied(SaysHello("manager/dc1/n1", NewJobId(), TokenOf(mine))));
  EXPECT_TRUE(absl::IsPermissionDenied(SaysHello("manager/dc2/n1", mine, TokenOf(mine))))
      << "a manager talks to its own datacenter's master";
  EXPECT_TRUE(absl::IsPermissionDenied(SaysHello("manager/dc1/n1", mine, TokenOf(mine), "dc2")));
  v1::ListInputsRequest request;
  request.set_job(mine);
  request.set_token(TokenOf(other));
  for (const char* role : {"manager/dc1/n1", "client/alice"}) {
    const auto stub = v1::JobMasterService::NewStub(As(role));
    EXPECT_TRUE(absl::IsPermissionDenied(
        Call(stub.get(), &v1::JobMasterService::Stub::ListInputs, request).status()));
  }
  TestManager manager(As("manager/dc1/n1"));
  manager.Hello(mine, "dc1", TokenOf(mine));
  manager.AwaitWelcome();
}

TEST_F(RolesTest, AnAccountSeesAndCancelsOnlyItsOwnJobsAndAnAdminAll) {
  const std::string alices = SubmitAs("client/alice");
  const std::string bobs = SubmitAs("client/bob");
  const TestClient alice = Client("client/alice");
  const auto list = alice.List();
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->jobs_size(), 1);
  EXPECT_EQ(list->jobs(0).id(), alices);
  EXPECT_TRUE(alice.Get(alices).ok());
  EXPECT_TRUE(absl::IsNotFound(alice.Get(bobs).status())) << "not even that it is there";
  EXPECT_TRUE(absl::IsNotFound(alice.Cancel(bobs).status()));
  v1::ListTasksRequest tasks;
  tasks.set_job(bobs);
  EXPECT_TRUE(
      absl::IsNotFound(Call(&alice.stub(), &v1::ClientService::Stub::ListTasks, tasks).status()));
  v1::ListOutputsRequest outputs;
  outputs.set_job(bobs);
  EXPECT_TRUE(absl::IsNotFound(
      Call(&alice.stub(), &v1::ClientService::Stub::ListOutputs, outputs).status()));
  v1::ListEventsRequest events;
  events.set_job(bobs);
  EXPECT_TRUE(
      absl::IsNotFound(Call(&alice.stub(), &v1::ClientService::Stub::ListEvents, events).status()));
  v1::Job for_bob = SmallJob();
  for_bob.set_account("bob");
  EXPECT_TRUE(absl::IsPermissionDenied(alice.Submit(NewJobId(), for_bob).status()));

  const TestClient admin = Client("admin/root");
  EXPECT_EQ(admin.List()->jobs_size(), 2);
  EXPECT_TRUE(admin.Get(bobs).ok());
  EXPECT_TRUE(admin.Cancel(bobs).ok());
  EXPECT_TRUE(admin.Submit(NewJobId(), for_bob).ok());
}

TEST_F(RolesTest, JobsAreFoundByPrefixAndNameWithinTheAccount) {
  const std::string alices = SubmitAs("client/alice");
  const std::string bobs = SubmitAs("client/bob");
  const std::string bobs_second = SubmitAs("client/bob");
  EXPECT_EQ(Client("client/alice").Get(alices.substr(0, 5))->status().id(), alices);
  EXPECT_EQ(Client("client/alice").Get("small")->status().id(), alices);
  EXPECT_EQ(Client("client/bob").Get("small")->status().id(), bobs_second) << "the newest";
  const absl::Status ambiguous = Client("client/bob").Get("j").status();
  EXPECT_EQ(ambiguous.code(), absl::StatusCode::kFailedPrecondition) << ambiguous;
  EXPECT_THAT(std::string(ambiguous.message()), HasSubstr(bobs));
  EXPECT_THAT(std::string(ambiguous.message()), ::testing::Not(HasSubstr(alices)));
  EXPECT_TRUE(absl::IsNotFound(Client("client/bob").Get("nothing").status()));
}

}  // namespace
}  // namespace houtu::master
