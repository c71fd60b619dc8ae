// The commands against a fake cluster over real mTLS: lost answers, standbys, wrong roles, masters
// that die while one waits, logs and outputs from agents that break off.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/command/program.h"
#include "common/base/ids.h"
#include "tests/client/fake_cluster.h"

namespace houtu::client {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kJobFile = R"(version: houtu/v1
name: b0
stages:
  - name: s1
    tasks: 2
    resources: {cpu: 500m, memory: 64Mi}
    command: [/bin/true]
)";

v1::JobStatus Status(const std::string& id, v1::JobState state) {
  v1::JobStatus status;
  status.set_id(id);
  status.set_name("b0");
  status.set_state(state);
  return status;
}

struct Result {
  ExitStatus exit = ExitStatus::kDone;
  std::string out;
  std::string err;
};

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() : dir_(fs::temp_directory_path() / ("houtu-client-" + NewJobId())) {
    fs::create_directory(dir_);
    Write("job.yaml", kJobFile);
  }
  ~ClusterTest() override { fs::remove_all(dir_); }

  std::string Path(const std::string& name) const { return dir_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }

  /// A configuration that shows `role` and names these masters.
  void Configure(const std::vector<std::string>& masters,
                 const std::string& role = "houtu:client/alice") {
    pki_.IssueFiles(role, dir_, "me");
    Write("config.yaml", fmt::format("masters: ['{}']\n"
                                     "tls: {{ca: ca.crt, certificate: me.crt, key: me.key}}\n",
                                     fmt::join(masters, "', '")));
  }
  TlsMaterial MasterTls() { return pki_.Issue("houtu:master/dc1"); }

  Result Houtu(std::vector<std::string> args, const std::string& timeout = "3s") {
    args.insert(args.end(), {"--config", Path("config.yaml"), "--connect-timeout", timeout});
    std::ostringstream out;
    std::ostringstream err;
    const Console console{.out = &out, .err = &err, .out_is_terminal = out_is_terminal_};
    const ExitStatus exit = RunProgram(Program::kHoutu, args, console, &interrupt_);
    return {exit, out.str(), err.str()};
  }

  fs::path dir_;
  TestPki pki_;
  Interrupt interrupt_;
  bool out_is_terminal_ = false;
};

/// Accepts every job.
absl::Status Accept(const v1::SubmitJobRequest& request, v1::SubmitJobResponse* response) {
  *response->mutable_status() = Status(request.job_id(), v1::JOB_STATE_PENDING);
  return absl::OkStatus();
}

// C15: the answer got lost, not the job.
TEST_F(ClusterTest, ALostAnswerIsAskedForWithTheSameId) {
  FakeMaster master;
  std::vector<std::string> ids;
  master.on_submit = [&](const v1::SubmitJobRequest& request, v1::SubmitJobResponse* response) {
    ids.push_back(request.job_id());
    return ids.size() < 3 ? absl::UnavailableError("the answer got lost")
                          : Accept(request, response);
  };
  master.Start(MasterTls());
  Configure({master.address()});
  const Result result = Houtu({"job", "run", Path("job.yaml"), "--id-only"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_TRUE(IsJobId(ids[0]));
  EXPECT_EQ(result.out, ids[0] + "\n");
  Houtu({"job", "run", Path("job.yaml")});
  EXPECT_NE(ids.back(), ids[0]) << "two invocations are two jobs";
}

TEST_F(ClusterTest, AMasterThatNeverAnswersIsLeftForTheNext) {
  FakeMaster silent;
  std::atomic<bool> release = false;
  silent.on_submit = [&](const v1::SubmitJobRequest&, v1::SubmitJobResponse*) {
    while (!release) {
      std::this_thread::yield();
    }
    return absl::UnavailableError("too late");
  };
  silent.Start(MasterTls());
  FakeMaster good;
  good.on_submit = Accept;
  good.Start(MasterTls());
  Configure({silent.address(), good.address()});
  const Result result = Houtu({"job", "run", Path("job.yaml")});
  release = true;
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr("submitted b0 (j"));
}

TEST_F(ClusterTest, NoAnswerAtAllSaysThatTheJobMayBeThere) {
  FakeMaster master;
  std::string id;
  master.on_submit = [&](const v1::SubmitJobRequest& request, v1::SubmitJobResponse*) {
    id = request.job_id();
    return absl::UnavailableError("no leader");
  };
  master.Start(MasterTls());
  Configure({master.address()});
  const Result result = Houtu({"job", "run", Path("job.yaml"), "-o", "json"}, "1s");
  EXPECT_EQ(result.exit, ExitStatus::kUnreachable);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("may have been accepted: houtu job show " + id));
  EXPECT_THAT(result.err, HasSubstr(R"("code":"UNAVAILABLE")"));
  EXPECT_THAT(result.err, HasSubstr(R"("retryable":true)"));
  EXPECT_THAT(result.err, HasSubstr(R"("details":{"job":")" + id));
}

TEST_F(ClusterTest, AStandbySendsTheClientOn) {
  FakeMaster standby;
  standby.on_submit = [](const v1::SubmitJobRequest&, v1::SubmitJobResponse*) {
    return absl::UnavailableError("not the leader; ask 10.0.0.2:7000");
  };
  standby.Start(MasterTls());
  FakeMaster leader;
  leader.on_submit = Accept;
  leader.Start(MasterTls());
  Configure({"127.0.0.1:1", standby.address(), leader.address()});
  EXPECT_EQ(Houtu({"job", "run", Path("job.yaml")}).exit, ExitStatus::kDone);
}

TEST_F(ClusterTest, AWrongRoleIsRefused) {
  FakeMaster master;
  master.on_submit = Accept;
  master.Start(MasterTls());
  Configure({master.address()}, "houtu:agent/dc1/dc1-n1");
  const Result result = Houtu({"job", "run", Path("job.yaml")});
  EXPECT_EQ(result.exit, ExitStatus::kNotAllowed);
  EXPECT_THAT(result.err, HasSubstr("agent dc1/dc1-n1 may not make this call"));
}

TEST_F(ClusterTest, AForeignCaIsNoCluster) {
  TestPki other;
  FakeMaster master;
  master.on_submit = Accept;
  master.Start(other.Issue("houtu:master/dc1"));
  Configure({master.address()});
  EXPECT_EQ(Houtu({"job", "run", Path("job.yaml")}, "500ms").exit, ExitStatus::kUnreachable);
}

TEST_F(ClusterTest, RefusalsKeepTheirMeaning) {
  FakeMaster master;
  absl::Status answer;
  master.on_submit = [&](const v1::SubmitJobRequest&, v1::SubmitJobResponse*) { return answer; };
  master.on_get = [&](const v1::GetJobRequest&, v1::GetJobResponse*) { return answer; };
  master.Start(MasterTls());
  Configure({master.address()});
  answer = absl::FailedPreconditionError("no datacenter dc9");
  EXPECT_EQ(Houtu({"job", "run", Path("job.yaml")}).exit, ExitStatus::kNotPlaceable);
  answer = absl::InvalidArgumentError("job is 1.1 MB, limit 512 KB");
  EXPECT_EQ(Houtu({"job", "run", Path("job.yaml")}).exit, ExitStatus::kBadUsage);
  answer = absl::NotFoundError("no job x");
  EXPECT_EQ(Houtu({"job", "show", "x"}).exit, ExitStatus::kNotFound);
  answer = absl::FailedPreconditionError("j0 is several jobs");
  EXPECT_EQ(Houtu({"job", "show", "j0"}).exit, ExitStatus::kConflict);
}

TEST_F(ClusterTest, AKilledMasterDoesNotEndAWait) {
  FakeMaster first;
  first.on_watch = [](const v1::GetJobRequest&) {
    return std::vector{Status("j1", v1::JOB_STATE_RUNNING)};
  };
  first.watch_end = absl::UnavailableError("shutting down");
  first.Start(MasterTls());
  FakeMaster second;
  std::string asked;
  second.on_watch = [&](const v1::GetJobRequest& request) {
    asked = request.job();
    return std::vector{Status("j1", v1::JOB_STATE_RUNNING), Status("j1", v1::JOB_STATE_SUCCEEDED)};
  };
  second.Start(MasterTls());
  Configure({first.address(), second.address()});
  const Result result = Houtu({"job", "wait", "b0"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_EQ(asked, "j1") << "by id, once it is known: the name may mean a newer job by now";
  EXPECT_EQ(result.out, "b0 (j1) SUCCEEDED\n");
  EXPECT_EQ(result.err, "b0 (j1) RUNNING\nb0 (j1) SUCCEEDED\n");
}

TEST_F(ClusterTest, TheExitStatusOfAWaitIsTheJobs) {
  FakeMaster master;
  v1::JobState end = v1::JOB_STATE_FAILED;
  master.on_submit = Accept;
  master.on_watch = [&](const v1::GetJobRequest& r) { return std::vector{Status(r.job(), end)}; };
  master.Start(MasterTls());
  Configure({master.address()});
  EXPECT_EQ(Houtu({"job", "wait", "j1"}).exit, ExitStatus::kJobFailed);
  end = v1::JOB_STATE_CANCELLED;
  EXPECT_EQ(Houtu({"job", "wait", "j1"}).exit, ExitStatus::kCancelled);
  end = v1::JOB_STATE_SUCCEEDED;
  const Result result = Houtu({"job", "run", Path("job.yaml"), "--wait", "-o", "json"});
  EXPECT_EQ(result.exit, ExitStatus::kDone);
  EXPECT_THAT(result.out, HasSubstr(R"("state":"JOB_STATE_SUCCEEDED")"));
}

TEST_F(ClusterTest, ATimeoutAndAnInterruptLeaveTheJob) {
  FakeMaster master;
  master.on_watch = [&](const v1::GetJobRequest&) {
    return std::vector{Status("j1", v1::JOB_STATE_RUNNING)};
  };
  master.watch_end = absl::UnavailableError("again");
  master.Start(MasterTls());
  Configure({master.address()});
  const Result timeout = Houtu({"job", "wait", "j1", "--timeout", "300ms"});
  EXPECT_EQ(timeout.exit, ExitStatus::kTimeout);
  EXPECT_THAT(timeout.err, HasSubstr("job j1 goes on"));
  std::thread ctrl_c([this] {
    absl::SleepFor(absl::Milliseconds(200));
    interrupt_.Fire();
  });
  const Result interrupted = Houtu({"job", "wait", "j1"});
  ctrl_c.join();
  EXPECT_EQ(interrupted.exit, ExitStatus::kInterrupted);
  EXPECT_THAT(interrupted.err, HasSubstr("interrupted; job j1 goes on; see it: houtu job show j1"));
}

// C28: listings come in pages.
TEST_F(ClusterTest, ShowsEveryPageOfTasks) {
  FakeMaster master;
  master.on_get = [](const v1::GetJobRequest&, v1::GetJobResponse* response) {
    *response->mutable_status() = Status("j1", v1::JOB_STATE_RUNNING);
    response->mutable_job()->set_name("b0");
    return absl::OkStatus();
  };
  master.on_tasks = [](const v1::ListTasksRequest& request, v1::ListTasksResponse* response) {
    const int page = request.page_token().empty() ? 0 : std::stoi(request.page_token());
    response->add_tasks()->set_task(page);
    response->set_next_page_token(page == 2 ? "" : std::to_string(page + 1));
    return absl::OkStatus();
  };
  master.Start(MasterTls());
  Configure({master.address()});
  const Result result = Houtu({"job", "show", "j1", "-o", "json"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith(R"({"status":{"id":"j1")"));
  EXPECT_THAT(result.out, HasSubstr(R"("job":{)"));
  for (const char* task : {R"("task":0)", R"("task":1)", R"("task":2)"}) {
    EXPECT_THAT(result.out, HasSubstr(task));
  }
}

/// A cluster of one master and one agent whose only task is `task_`.
class TaskTest : public ClusterTest {
 protected:
  void SetUp() override {
    agent_.Start(pki_.Issue("houtu:agent/dc1/dc1-n1"));
    master_.on_get = [this](const v1::GetJobRequest&, v1::GetJobResponse* response) {
      *response->mutable_status() = Status("j1", job_state_);
      return absl::OkStatus();
    };
    master_.on_tasks = [this](const v1::ListTasksRequest&, v1::ListTasksResponse* response) {
      *response->add_tasks() = task_;
      return absl::OkStatus();
    };
    master_.on_nodes = [this](const v1::ListNodesRequest& request, v1::ListNodesResponse* nodes) {
      v1::Node* node = nodes->add_nodes();
      node->set_name(request.node());
      node->set_agent_address(agent_.address());
      return absl::OkStatus();
    };
    master_.Start(MasterTls());
    Configure({master_.address()});
    task_.set_stage("s1");
    task_.set_node("dc1-n1");
    task_.set_attempt(1);
    task_.set_state(v1::TaskStatus::STATE_RUNNING);
  }

  static v1::LogChunk Chunk(int64_t offset, const std::string& data, bool end) {
    v1::LogChunk chunk;
    chunk.set_offset_bytes(offset);
    chunk.set_data(data);
    chunk.set_end(end);
    return chunk;
  }

  FakeMaster master_;
  FakeAgent agent_;
  v1::JobState job_state_ = v1::JOB_STATE_RUNNING;
  v1::TaskStatus task_;
};

TEST_F(TaskTest, ALogGoesOnWhereItsStreamBroke) {
  std::vector<int64_t> offsets;
  agent_.on_log = [&](const v1::ReadLogRequest& request) -> FakeAgent::LogAnswer {
    offsets.push_back(request.offset_bytes());
    if (offsets.size() == 1) {
      return {{Chunk(0, "one\n", false)}, absl::UnavailableError("restarting")};
    }
    task_.set_state(v1::TaskStatus::STATE_FINISHED);
    return {{Chunk(4, "two\n", true)}, absl::OkStatus()};
  };
  const Result result = Houtu({"job", "logs", "j1/s1/0", "-f"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_EQ(result.out, "one\ntwo\n");
  EXPECT_THAT(offsets, testing::ElementsAre(0, 4));
}

TEST_F(TaskTest, ALogFollowsTheTaskToItsNextAttempt) {
  agent_.on_log = [&](const v1::ReadLogRequest& request) -> FakeAgent::LogAnswer {
    if (request.id().attempt() == 1) {
      task_.set_attempt(2);
      task_.set_node("dc2-n1");
      return {{Chunk(0, "first\n", true)}, absl::OkStatus()};
    }
    task_.set_state(v1::TaskStatus::STATE_FINISHED);
    return {{Chunk(0, "second\n", true)}, absl::OkStatus()};
  };
  const Result result = Houtu({"job", "logs", "j1", "s1", "0", "-f"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_EQ(result.out, "first\nsecond\n");
  EXPECT_EQ(result.err, "-- s1/0: attempt 2 on dc2-n1\n");
}

TEST_F(TaskTest, ALogTellsWhatWasDroppedAndShowsItsEnd) {
  agent_.on_log = [&](const v1::ReadLogRequest&) -> FakeAgent::LogAnswer {
    v1::LogChunk end = Chunk(5000, "b\nc\n", true);
    end.set_dropped_bytes(4998);
    return {{Chunk(0, "a\n", false), end}, absl::OkStatus()};
  };
  const Result all = Houtu({"job", "logs", "j1/s1/0"});
  EXPECT_EQ(all.out, "a\nb\nc\n");
  EXPECT_THAT(all.err, HasSubstr("4998 bytes of the log's middle are not kept"));
  EXPECT_EQ(Houtu({"job", "logs", "j1/s1/0", "--tail", "1"}).out, "c\n");
}

// C23: raw into a pipe, harmless on a terminal.
TEST_F(TaskTest, EscapesReachAPipeButNoTerminal) {
  agent_.on_log = [&](const v1::ReadLogRequest&) -> FakeAgent::LogAnswer {
    return {{Chunk(0, "\x1b[2Jh", false), Chunk(5, "\xc3", false), Chunk(6, "\xbc\n", true)},
            absl::OkStatus()};
  };
  EXPECT_EQ(Houtu({"job", "logs", "j1/s1/0"}).out, "\x1b[2Jhü\n");
  out_is_terminal_ = true;
  EXPECT_EQ(Houtu({"job", "logs", "j1/s1/0"}).out, "\\x1b[2Jhü\n");
}

TEST_F(TaskTest, ATaskThatHasNotStartedHasNoLog) {
  task_.set_attempt(0);
  task_.clear_node();
  const Result result = Houtu({"job", "logs", "j1/s1/0"});
  EXPECT_EQ(result.exit, ExitStatus::kNotFound);
  EXPECT_THAT(result.err, HasSubstr("s1/0 has not started"));
}

class FetchTest : public TaskTest {
 protected:
  void SetUp() override {
    TaskTest::SetUp();
    master_.Stop();
    master_.on_outputs = [this](const v1::ListOutputsRequest&, v1::ListOutputsResponse* response) {
      response->set_job_id("j1");
      for (const std::string name : {"0", "two words"}) {
        v1::OutputFile* file = response->add_files();
        file->set_stage("s1");
        file->set_name(name);
        file->set_attempt(1);
        file->set_size_bytes(2);
        file->set_node("dc1-n1");
        file->set_agent_address(address_.empty() ? agent_.address() : address_);
      }
      return absl::OkStatus();
    };
    master_.Start(MasterTls());
    Configure({master_.address()});
  }

  static v1::FileChunk File(const v1::PartitionRef& ref, const std::string& data) {
    v1::FileChunk chunk;
    chunk.mutable_header()->set_attempt(ref.attempt());
    chunk.mutable_header()->set_name(ref.name());
    chunk.mutable_header()->set_size_bytes(2);
    chunk.mutable_header()->set_sha256(Sha256("hi"));
    chunk.set_data(data);
    chunk.set_last(true);
    return chunk;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string address_;
};

TEST_F(FetchTest, AsksAgainForWhatABrokenStreamLeftOut) {
  int calls = 0;
  agent_.on_fetch = [&](const v1::FetchPartitionsRequest& request) -> FakeAgent::FilesAnswer {
    ++calls;
    EXPECT_EQ(request.partitions_size(), calls == 1 ? 2 : 1);
    const absl::Status end = calls == 1 ? absl::UnavailableError("restarting") : absl::OkStatus();
    return {{File(request.partitions(0), "hi")}, end};
  };
  const Result result = Houtu({"job", "outputs", "j1", "--to", Path("out")});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_EQ(Read("out/s1/0/0"), "hi");
  EXPECT_EQ(Read("out/s1/0/two words"), "hi");
}

TEST_F(FetchTest, NamesWhatCouldNotBeHad) {
  agent_.on_fetch = [&](const v1::FetchPartitionsRequest& request) -> FakeAgent::FilesAnswer {
    if (request.partitions_size() > 1 || request.partitions(0).name() == "0") {
      return {{}, absl::NotFoundError("s1/0#1 0 is not here")};
    }
    return {{File(request.partitions(0), "hi")}, absl::OkStatus()};
  };
  const Result result = Houtu({"job", "outputs", "j1", "--to", Path("out")});
  EXPECT_EQ(result.exit, ExitStatus::kJobFailed);
  EXPECT_THAT(result.err, HasSubstr("missing: s1/0/0 on dc1-n1"));
  EXPECT_THAT(result.err, HasSubstr("1 of 2 files could not be had"));
  EXPECT_EQ(Read("out/s1/0/two words"), "hi");
}

TEST_F(FetchTest, AnUnreachableNodeIsSafeToTryAgain) {
  address_ = "127.0.0.1:1";
  EXPECT_EQ(Houtu({"job", "outputs", "j1", "--to", Path("out")}).exit, ExitStatus::kUnreachable);
}

}  // namespace
}  // namespace houtu::client
