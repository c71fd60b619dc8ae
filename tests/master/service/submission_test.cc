// Submissions to a real master over a real ZooKeeper: safe before the answer, once per id, refused
// with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/time/clock.h"
#include "common/base/ids.h"
#include "houtu/v1/record.pb.h"
#include "tests/master/service/test_client.h"
#include "tests/master/service/test_cluster.h"

namespace houtu::master {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SubmissionTest : public ::testing::Test {
 protected:
  TestClient ClientOf(const MasterProcess& master, const std::string& role = "client/alice") {
    return TestClient(cluster_.Channel(role, master.address()));
  }
  /// Ids of all recorded jobs.
  std::vector<std::string> RecordedJobs() {
    const auto names = cluster_.store()->GetChildren(cluster_.paths().Jobs());
    return names.value_or(std::vector<std::string>{"none could be read"});
  }
  v1::JobRecord Record(const std::string& id) {
    v1::JobRecord record;
    const auto node = cluster_.store()->Get(cluster_.paths().Job(id));
    EXPECT_TRUE(node.ok() && record.ParseFromString(node->data)) << node.status();
    return record;
  }

  TestCluster cluster_;
};

TEST_F(SubmissionTest, AnAnswerMeansThatTheJobIsInZookeeper) {
  const auto master = cluster_.StartLeader("dc1");
  const std::string id = NewJobId();
  const auto answer = ClientOf(*master).Submit(id, SmallJob());
  ASSERT_TRUE(answer.ok()) << answer.status();
  const v1::JobRecord record = Record(id);
  EXPECT_EQ(record.job().name(), "small");
  EXPECT_EQ(record.job().account(), "alice");
  EXPECT_EQ(record.token().size(), 32u);
  EXPECT_EQ(record.primary_datacenter(), "dc1");
  EXPECT_TRUE(cluster_.store()->Get(cluster_.paths().Active(id)).ok());
  v1::JobStateRecord state;
  state.ParseFromString(cluster_.store()->Get(cluster_.paths().State(id)).value().data);
  EXPECT_EQ(state.state(), v1::JOB_STATE_PENDING);
  EXPECT_EQ(answer->status().id(), id);
  EXPECT_EQ(answer->status().state(), v1::JOB_STATE_PENDING);
}

TEST_F(SubmissionTest, TheSameIdTwiceIsOneJobAndTheSameAnswer) {
  const auto master = cluster_.StartLeader("dc1");
  const TestClient client = ClientOf(*master);
  const std::string id = NewJobId();
  auto first = client.Submit(id, SmallJob());
  auto second = client.Submit(id, SmallJob());
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  first->mutable_status()->clear_waits();  // why it waits now, told when it is known
  second->mutable_status()->clear_waits();
  EXPECT_EQ(first->status().SerializeAsString(), second->status().SerializeAsString());
  EXPECT_THAT(RecordedJobs(), SizeIs(1));

  const auto other_job = client.Submit(id, SmallJob("another"));
  EXPECT_TRUE(absl::IsAlreadyExists(other_job.status())) << other_job.status();
  const auto other_account = ClientOf(*master, "client/bob").Submit(id, SmallJob());
  EXPECT_TRUE(absl::IsAlreadyExists(other_account.status())) << other_account.status();
  EXPECT_EQ(Record(id).job().name(), "small");
}

TEST_F(SubmissionTest, TheMasterDiesAfterTwentyAnswersAndTheNextHasTwentyJobs) {
  const auto first = cluster_.StartLeader("dc1", "m1");
  std::set<std::string> accepted;
  for (int i = 0; i < 20; ++i) {
    const auto answer = ClientOf(*first).Submit(NewJobId(), SmallJob());
    ASSERT_TRUE(answer.ok()) << answer.status();
    accepted.insert(answer->status().id());
  }
  first->Kill();
  const auto next = cluster_.StartLeader("dc1", "m2");
  // A client that did not get its answer asks the next master: still one job.
  const auto again = ClientOf(*next).Submit(*accepted.begin(), SmallJob());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->status().id(), *accepted.begin());
  const auto jobs = ClientOf(*next).List(/*all=*/false);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  std::set<std::string> there;
  for (const v1::JobStatus& job : jobs->jobs()) {
    there.insert(job.id());
  }
  EXPECT_EQ(there, accepted);
  TestAgent agent(cluster_.Channel("agent/dc1/n1", next->address()), "dc1", "n1");
  agent.Register();
  std::set<std::string> started;
  while (started.size() < accepted.size()) {
    const v1::StartLease start = agent.NextStart();
    EXPECT_EQ(start.lease().kind(), v1::Lease::KIND_MANAGER);
    EXPECT_TRUE(started.insert(start.lease().job()).second) << "one manager per job";
  }
  EXPECT_EQ(started, accepted);
}

TEST_F(SubmissionTest, AStandbyNamesTheLeader) {
  const auto leader = cluster_.StartLeader("dc1", "m1");
  const auto standby = cluster_.Start("dc1", "m2");
  cluster_.AwaitAnswer("dc1", *standby);
  const TestClient client = ClientOf(*standby);
  absl::Status refused;
  const absl::Time deadline = absl::Now() + kTestPatience;
  do {  // until it has heard of the leader
    refused = client.Submit(NewJobId(), SmallJob()).status();
  } while (refused.message().find("led by") == absl::string_view::npos && absl::Now() < deadline);
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(leader->address()));
  EXPECT_THAT(RecordedJobs(), IsEmpty());

  // It answers for every job all the same.
  const auto answer = ClientOf(*leader).Submit(NewJobId(), SmallJob());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(client.Get(answer->status().id()).ok());
}

TEST_F(SubmissionTest, AJobTooBigForZookeeperIsRefusedAtOnceAndHarmsNobody) {
  const auto master = cluster_.StartLeader("dc1");
  const TestClient client = ClientOf(*master);
  v1::Job one_value = SmallJob();
  (*one_value.mutable_env())["BIG"] = std::string(1'100'000, 'x');
  v1::Job many_values = SmallJob();
  for (int i = 0; i < 3'000; ++i) {
    (*many_values.mutable_env())["V" + std::to_string(i)] = std::string(400, 'x');
  }
  for (const v1::Job& job : {one_value, many_values}) {
    const absl::Time start = absl::Now();
    const absl::Status refused = client.Submit(NewJobId(), job).status();
    EXPECT_LT(absl::Now() - start, absl::Seconds(2));
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("MB, limit 0.4 MB"));
  }
  EXPECT_THAT(RecordedJobs(), IsEmpty());
  EXPECT_THAT(master->Log(), ::testing::Not(HasSubstr("state=suspended")));
  EXPECT_TRUE(client.Submit(NewJobId(), SmallJob()).ok());
}

TEST_F(SubmissionTest, ACommandOfFarTooManyArgumentsIsRefused) {
  const auto master = cluster_.StartLeader("dc1");
  for (const int arguments : {100'000, 200'000}) {
    v1::Job job = SmallJob();
    for (int i = 0; i < arguments; ++i) {
      job.mutable_stages(0)->add_command("x");
    }
    const absl::Time start = absl::Now();
    const absl::Status refused = ClientOf(*master).Submit(NewJobId(), job).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("limit"));
    EXPECT_TRUE(ClientOf(*master).List().ok());
    EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  }
  EXPECT_THAT(RecordedJobs(), IsEmpty());
}

TEST_F(SubmissionTest, ACircleOfStagesIsRefusedAndLeavesNoRecords) {
  const auto master = cluster_.StartLeader("dc1");
  v1::Job job = SmallJob();
  const v1::Stage healthy = job.stages(0);
  const char* needs[][2] = {{"a", "c"}, {"b", "a"}, {"c", "b"}};
  for (const auto& [name, needed] : needs) {
    v1::Stage* stage = job.add_stages();
    *stage = healthy;
    stage->set_name(name);
    stage->add_needs()->set_stage(needed);
  }
  const absl::Status refused = ClientOf(*master).Submit(NewJobId(), job).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("a -> c -> b -> a"));
  EXPECT_THAT(RecordedJobs(), IsEmpty());
  const auto active = cluster_.store()->GetChildren(cluster_.paths().AllActive());
  EXPECT_TRUE(active.ok() && active->empty());
  EXPECT_TRUE(ClientOf(*master).Submit(NewJobId(), SmallJob()).ok());
}

TEST_F(SubmissionTest, AnIdThatIsNoneIsRefused) {
  const auto master = cluster_.StartLeader("dc1");
  for (const char* id : {"", "j", "../../evil", "J000000000aaaaaaaaaa"}) {
    const absl::Status refused = ClientOf(*master).Submit(id, SmallJob()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  }
}

TEST_F(SubmissionTest, TheMasterOfASecondDatacenterStartsItsManagerToo) {
  const auto one = cluster_.StartLeader("dc1", "m1");
  const auto two = cluster_.StartLeader("dc2", "m2");
  TestAgent agent_one(cluster_.Channel("agent/dc1/n1", one->address()), "dc1", "n1");
  TestAgent agent_two(cluster_.Channel("agent/dc2/n1", two->address()), "dc2", "n1");
  agent_one.Register();
  agent_two.Register();
  v1::Job job = SmallJob();
  job.add_datacenters("dc1");
  job.add_datacenters("dc2");
  absl::StatusOr<v1::SubmitJobResponse> answer = absl::UnavailableError("");
  const absl::Time deadline = absl::Now() + kTestPatience;
  while (!answer.ok() && absl::Now() < deadline) {  // until dc1's master knows of dc2
    answer = ClientOf(*one).Submit(NewJobId(), job);
  }
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status().primary_datacenter(), "dc1");
  EXPECT_THAT(answer->status().datacenters(), ::testing::ElementsAre("dc1", "dc2"));
  EXPECT_EQ(agent_one.NextStart().lease().job(), answer->status().id());
  EXPECT_EQ(agent_two.NextStart().lease().job(), answer->status().id());
}

TEST_F(SubmissionTest, ADatacenterThatDoesNotExistIsNamed) {
  const auto master = cluster_.StartLeader("dc1");
  v1::Job job = SmallJob();
  job.add_datacenters("dc1");
  job.add_datacenters("mars");
  const absl::Status refused = ClientOf(*master).Submit(NewJobId(), job).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no datacenter \"mars\" (known: dc1)"));
  EXPECT_THAT(RecordedJobs(), IsEmpty());
}

TEST_F(SubmissionTest, AJobWithoutAManagerIsCancelledByItsMaster) {
  const auto master = cluster_.StartLeader("dc1");
  const TestClient client = ClientOf(*master);
  const std::string id = NewJobId();
  ASSERT_TRUE(client.Submit(id, SmallJob()).ok());
  const auto cancelled = client.Cancel(id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  grpc::ClientContext context;
  SetDeadline(&context, kTestPatience);
  v1::GetJobRequest request;
  request.set_job(id);
  const auto watch = client.stub().WatchJob(&context, request);
  v1::JobStatus status;
  while (watch->Read(&status)) {
  }
  EXPECT_TRUE(watch->Finish().ok());
  EXPECT_EQ(status.state(), v1::JOB_STATE_CANCELLED);
  const auto again = client.Cancel(id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->status().state(), v1::JOB_STATE_CANCELLED);
}

}  // namespace
}  // namespace houtu::master
