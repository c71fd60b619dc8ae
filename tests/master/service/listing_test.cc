// Long listings stay below the limit of a message (C28): the services over a store in memory, with
// real calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/ids.h"
#include "common/coordination/memory.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/limits.h"
#include "common/rpc/server.h"
#include "houtu/v1/record.pb.h"
#include "master/service/client_service.h"
#include "master/service/job_reader.h"
#include "master/service/master_service.h"
#include "tests/common/rpc/test_pki.h"
#include "tests/master/service/test_client.h"

namespace houtu::master {
namespace {

constexpr int kTasks = 50'000;
constexpr int kTasksPerChunk = 500;
const std::string kLongName(64, 'n');

v1::MasterConfig Config() {
  v1::MasterConfig config;
  config.set_datacenter("dc1");
  return config;
}

class ListingTest : public ::testing::Test {
 protected:
  ListingTest() {
    auto server =
        RpcServer::Start("127.0.0.1:0", pki_.Issue("houtu:master/dc1"), {&clients_, &masters_});
    HOUTU_CHECK(server.ok(), server.status().ToString());
    server_ = *std::move(server);
    const std::string address = fmt::format("127.0.0.1:{}", server_->port());
    view_.SetMasters({{"dc1", {.address = address, .term = 1}}});
    view_.SetLeading(SharedView::Leading{.term = 1});
    view_.SetStore(store_);
    for (const std::string& path : {paths_.Jobs(), paths_.AllActive()}) {
      HOUTU_CHECK(blocking_.EnsurePath(path).ok(), "the store takes it");
    }
    client_ = std::make_unique<TestClient>(client_channels_.Get(address));
  }
  ~ListingTest() override {
    server_->Shutdown(absl::Seconds(1));
    view_.SetStore(nullptr);
    workers_.Stop();
  }

  void Put(const std::string& path, const google::protobuf::MessageLite& message) {
    const auto made = blocking_.Create(path, message.SerializeAsString());
    HOUTU_CHECK(made.ok(), made.status().ToString());
  }
  /// A job of one stage whose 50,000 tasks are finished; `files` files each, so far as given.
  std::string PutFinishedJob(int files_of_first_task) {
    v1::JobRecord record;
    record.set_id(NewJobId());
    *record.mutable_job() = SmallJob();
    record.mutable_job()->set_account("alice");
    record.mutable_job()->mutable_stages(0)->set_name(kLongName);
    record.add_datacenters("dc1");
    const std::string& id = record.id();
    Put(paths_.Job(id), record);
    Put(paths_.Stages(id), v1::StageRecord());
    v1::StageRecord stage;
    stage.set_tasks(kTasks);
    stage.set_tasks_per_chunk(kTasksPerChunk);
    stage.set_state(v1::STAGE_STATE_SUCCEEDED);
    Put(paths_.Stage(id, kLongName), stage);
    for (int chunk = 0; chunk < kTasks / kTasksPerChunk; ++chunk) {
      v1::FinishedRecord finished;
      v1::AssignmentRecord assigned;
      for (int i = 0; i < kTasksPerChunk; ++i) {
        const int number = chunk * kTasksPerChunk + i;
        v1::FinishedTask* task = finished.add_tasks();
        task->set_task(number);
        task->set_attempt(1);
        task->set_node(kLongName);
        task->set_agent_address("127.0.0.1:65535");
        for (int f = 0; f < (number == 0 ? files_of_first_task : 1); ++f) {
          task->add_numbered_size_plus_one(100);
        }
        v1::AssignedTask* input = assigned.add_tasks();
        input->set_task(number);
        input->mutable_input()->set_path("/" + std::string(300, 'p'));
        input->mutable_input()->set_node(kLongName);
      }
      Put(paths_.Finished(id, kLongName, "dc1", chunk), finished);
      Put(paths_.Assignment(id, kLongName, "dc1", chunk), assigned);
    }
    return id;
  }

  TestPki pki_;
  EventLoop loop_;
  WorkerPool workers_{4};
  const RecordPaths paths_;
  std::shared_ptr<coordination::Coordination> store_{
      std::make_shared<coordination::MemoryCoordination>(
          std::make_shared<coordination::MemoryStore>(),
          [this](std::function<void()> f) { loop_.Post(std::move(f)); })};
  const coordination::BlockingCoordination blocking_{store_.get(), kTestPatience};
  Metrics metrics_;
  MasterMetrics master_metrics_{&metrics_, "fair"};
  SharedView view_;
  ChannelPool channels_{pki_.Issue("houtu:master/dc1")};
  ChannelPool client_channels_{pki_.Issue("houtu:client/alice")};
  MasterShell shell_{{.config = Config()}, &loop_, &workers_, &view_, &master_metrics_};
  ClientServiceShell clients_{{.loop = &loop_,
                               .workers = &workers_,
                               .view = &view_,
                               .shell = &shell_,
                               .channels = &channels_,
                               .metrics = &master_metrics_,
                               .config = Config()}};
  MasterServiceShell masters_{&loop_, &shell_, &view_};
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(ListingTest, TwoThousandNodesAreOneAnswer) {
  auto cluster = std::make_shared<SharedView::Cluster>();
  for (int i = 0; i < 2'000; ++i) {
    v1::Node& node = cluster->nodes.emplace_back();
    node.set_name(fmt::format("{:060}{:04}", 0, i));
    node.set_datacenter("dc1");
    node.set_rack(kLongName);
    node.set_agent_address("127.0.0.1:65535");
    node.set_message(std::string(200, 'm'));
    (*node.mutable_features())["criu"] = std::string(100, 'f');
  }
  view_.SetCluster(cluster);
  const auto all =
      Call(&client_->stub(), &v1::ClientService::Stub::ListNodes, v1::ListNodesRequest());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->nodes_size(), 2'000);
  EXPECT_EQ(all->unreachable_size(), 0);
  EXPECT_LT(all->ByteSizeLong(), size_t{kMessageBytesMax} / 4);
  v1::ListNodesRequest one;
  one.set_node(cluster->nodes.back().name());
  EXPECT_EQ(Call(&client_->stub(), &v1::ClientService::Stub::ListNodes, one)->nodes_size(), 1);
  one.set_node("nobody");
  EXPECT_TRUE(
      absl::IsNotFound(Call(&client_->stub(), &v1::ClientService::Stub::ListNodes, one).status()));
}

TEST_F(ListingTest, FiftyThousandTasksComeInPagesEachOnce) {
  v1::ListTasksRequest request;
  request.set_job(PutFinishedJob(1));
  request.set_page_size(JobReader::kTasksPageMax);
  int next = 0;
  do {
    const auto page = Call(&client_->stub(), &v1::ClientService::Stub::ListTasks, request);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_LT(page->ByteSizeLong(), size_t{kMessageBytesMax} / 2);
    ASSERT_GT(page->tasks_size(), 0);
    for (const v1::TaskStatus& task : page->tasks()) {
      ASSERT_EQ(task.task(), next++);
      ASSERT_EQ(task.state(), v1::TaskStatus::STATE_FINISHED);
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(next, kTasks);
}

TEST_F(ListingTest, OutputsComeInPagesEachOnceAlsoThoseOfATaskWithVeryMany) {
  constexpr int kFilesOfFirst = 60'000;
  v1::ListOutputsRequest request;
  request.set_job(PutFinishedJob(kFilesOfFirst));
  request.set_page_size(JobReader::kTasksPageMax);
  std::set<std::pair<int, std::string>> seen;
  do {
    const auto page = Call(&client_->stub(), &v1::ClientService::Stub::ListOutputs, request);
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_LE(page->files_size(), JobReader::kTasksPageMax);
    for (const v1::OutputFile& file : page->files()) {
      ASSERT_TRUE(seen.emplace(file.task(), file.name()).second);
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen.size(), size_t{kFilesOfFirst} + kTasks - 1);
}

TEST_F(ListingTest, JobsComeInPagesNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 25; ++i) {
    v1::JobRecord record;
    record.set_id(fmt::format("j{:019}", i));
    *record.mutable_job() = SmallJob();
    record.mutable_job()->set_account("alice");
    Put(paths_.Job(record.id()), record);
    ids.insert(ids.begin(), record.id());
  }
  std::vector<std::string> listed;
  std::string token;
  do {
    const auto page = client_->List(/*all=*/true, 10, token);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const v1::JobStatus& job : page->jobs()) listed.push_back(job.id());
    token = page->next_page_token();
  } while (!token.empty());
  EXPECT_EQ(listed, ids);
  EXPECT_EQ(client_->List(/*all=*/false)->jobs_size(), 0) << "none is active";
}

TEST_F(ListingTest, APageTokenThatIsNotOursIsRefused) {
  v1::ListTasksRequest request;
  request.set_job(PutFinishedJob(1));
  for (const char* token :
       {"x", "1", "1:2", "1:2:", "-1:0:0", "1:2:3x", "1:2:3:4", "99999999999999999999:0:0"}) {
    request.set_page_token(token);
    const auto page = Call(&client_->stub(), &v1::ClientService::Stub::ListTasks, request);
    EXPECT_TRUE(absl::IsInvalidArgument(page.status())) << token << ": " << page.status();
  }
}

}  // namespace
}  // namespace houtu::master
