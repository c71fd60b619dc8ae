#include "agent/partitions/input_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/status.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::houtu::testing::ReadText;
using ::houtu::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Another agent: each call takes the next answer; the last one stays.
class FakePeer : public RemoteFiles {
 public:
  struct Answer {
    std::vector<v1::FileChunk> chunks;
    absl::Status status;
    std::vector<v1::PartitionRef> lost;
  };

  absl::Status FetchPartitions(const std::string& address, const v1::FetchPartitionsRequest&,
                               const ChunkSink& sink,
                               std::vector<v1::PartitionRef>* lost) override {
    return Play(address, sink, lost);
  }
  absl::Status FetchInput(const std::string& address, const v1::FetchInputRequest&,
                          const ChunkSink& sink) override {
    return Play(address, sink, nullptr);
  }

  std::deque<Answer> answers;
  std::vector<std::string> called;

 private:
  absl::Status Play(const std::string& address, const ChunkSink& sink,
                    std::vector<v1::PartitionRef>* lost) {
    called.push_back(address);
    const Answer answer = answers.front();
    if (answers.size() > 1) {
      answers.pop_front();
    }
    for (const v1::FileChunk& chunk : answer.chunks) {
      HOUTU_RETURN_IF_ERROR(sink(chunk));
    }
    if (lost != nullptr) {
      *lost = answer.lost;
    }
    return answer.status;
  }
};

v1::FileChunk Chunk(int task, const std::string& name, const std::string& data) {
  v1::FileChunk chunk;
  chunk.mutable_header()->set_task(task);
  chunk.mutable_header()->set_attempt(1);
  chunk.mutable_header()->set_name(name);
  chunk.mutable_header()->set_size_bytes(static_cast<int64_t>(data.size()));
  chunk.mutable_header()->set_sha256(Sha256(data));
  chunk.set_data(data);
  chunk.set_last(true);
  return chunk;
}

class InputSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(place_.task_dir / "in");
    spec_.mutable_id()->set_job("j1");
    spec_.mutable_id()->set_stage("reduce");
  }

  /// A task of stage map ended here and left these files.
  void CommitHere(int task, const std::vector<std::string>& names) const {
    const fs::path dir = folder_.path() / "map" / std::to_string(task);
    fs::create_directories(dir / "out");
    for (const std::string& name : names) {
      WriteText(dir / "out" / name, "file " + name);
    }
    ASSERT_TRUE(
        store_.Commit({.job = "j1", .stage = "map", .task = task, .attempt = 1}, dir, {}).ok());
  }
  /// The attempt needs these tasks' outputs from a node.
  void Need(const std::string& node, const std::vector<int>& tasks, const std::string& name = "") {
    v1::PartitionSource& source = *spec_.add_upstream();
    source.set_stage("map");
    source.set_datacenter(node == "n1" ? "dc1" : "dc2");
    source.set_node(node);
    source.set_agent_address(node + ":1");
    for (const int task : tasks) {
      v1::PartitionRef& ref = *source.add_partitions();
      ref.set_task(task);
      ref.set_attempt(1);
      ref.set_name(name);
    }
  }
  void NeedRaw(const std::string& node, const std::string& path) {
    spec_.mutable_input()->set_datacenter(node == "n1" ? "dc1" : "dc2");
    spec_.mutable_input()->set_node(node);
    spec_.mutable_input()->set_agent_address(node + ":1");
    spec_.mutable_input()->set_path(path);
  }
  InputOutcome Bring() {
    const InputSource source({.datacenter = "dc1",
                              .node = "n1",
                              .sleep = [this](absl::Duration pause) { pauses_.push_back(pause); }},
                             &roots_, &store_, &peer_);
    InputOutcome out = source.Bring(spec_, place_);
    EXPECT_FALSE(fs::exists(place_.staging));
    return out;
  }
  fs::path In(const std::string& name) const { return place_.task_dir / "in" / name; }
  fs::path Data(const std::string& name) const { return folder_.path() / "data" / name; }

  const houtu::testing::TempFolder folder_;
  const PartitionStore store_{folder_.path() / "partitions"};
  const DataRoots roots_{{(folder_.path() / "data").native()}};
  const InputPlace place_{.staging = folder_.path() / "staging",
                          .task_dir = folder_.path() / "task",
                          .uid_base = 100'000};
  FakePeer peer_;
  v1::TaskSpec spec_;
  std::vector<absl::Duration> pauses_;
};

TEST_F(InputSourceTest, NothingIsTouchedForATaskWithoutInputs) {
  const InputOutcome out = Bring();
  EXPECT_TRUE(out.status.ok()) << out.status;
  EXPECT_TRUE(fs::is_empty(place_.task_dir / "in"));
}

TEST_F(InputSourceTest, OneFileIsAFileSeveralAreAFolderNoneIsAbsent) {
  CommitHere(0, {"0"});
  CommitHere(1, {"0", "1"});
  CommitHere(2, {});
  Need("n1", {0, 1, 2});
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(ReadText(In("map/0")), "file 0");
  EXPECT_EQ(ReadText(In("map/1/1")), "file 1");
  EXPECT_FALSE(fs::exists(In("map/2")));
  EXPECT_EQ(out.local_bytes, 18);
  EXPECT_THAT(peer_.called, IsEmpty());
}

TEST_F(InputSourceTest, ANamedFileOfEachTaskComesAlone) {
  CommitHere(0, {"0", "1"});
  CommitHere(1, {"0"});
  Need("n1", {0, 1}, "1");
  ASSERT_TRUE(Bring().status.ok());
  EXPECT_EQ(ReadText(In("map/0")), "file 1");
  EXPECT_FALSE(fs::exists(In("map/1"))) << "that task wrote nothing for this one";
}

TEST_F(InputSourceTest, RemoteFilesLieAsLocalOnesDo) {
  peer_.answers = {{.chunks = {Chunk(0, "0", "zero"), Chunk(1, "a", "x"), Chunk(1, "b", "y")}}};
  Need("n2", {0, 1, 2});
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(ReadText(In("map/0")), "zero");
  EXPECT_EQ(ReadText(In("map/1/b")), "y");
  EXPECT_FALSE(fs::exists(In("map/2")));
  EXPECT_THAT(out.bytes_from, ElementsAre(Pair("dc2", 6)));
  EXPECT_THAT(peer_.called, ElementsAre("n2:1"));
}

TEST_F(InputSourceTest, ALocalPartitionThatIsGoneIsNamed) {
  CommitHere(0, {"0"});
  Need("n1", {0, 5});
  const InputOutcome out = Bring();
  EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
  ASSERT_THAT(out.lost, SizeIs(1));
  EXPECT_EQ(out.lost[0].task(), 5);
  EXPECT_EQ(out.lost[0].node(), "n1");
}

TEST_F(InputSourceTest, ARemotePartitionThatIsGoneIsNamedWithoutAnotherTry) {
  v1::PartitionRef gone;
  gone.set_task(1);
  gone.set_attempt(1);
  peer_.answers = {{.status = absl::NotFoundError("gone"), .lost = {gone}}};
  Need("n2", {0, 1});
  const InputOutcome out = Bring();
  EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
  ASSERT_THAT(out.lost, SizeIs(1));
  EXPECT_EQ(out.lost[0].task(), 1);
  EXPECT_THAT(peer_.called, SizeIs(1));
}

TEST_F(InputSourceTest, AWrongChecksumIsALostPartition) {
  v1::FileChunk bad = Chunk(1, "0", "what was written");
  bad.set_data("what was flipped");
  peer_.answers = {{.chunks = {Chunk(0, "0", "good"), bad}}};
  Need("n2", {0, 1});
  const InputOutcome out = Bring();
  EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
  ASSERT_THAT(out.lost, SizeIs(1));
  EXPECT_EQ(out.lost[0].task(), 1);
  EXPECT_FALSE(fs::exists(In("map"))) << "the task never sees half of its inputs";
}

TEST_F(InputSourceTest, ABrokenStreamIsTriedAgainFromItsStart) {
  v1::FileChunk half = Chunk(0, "0", "the whole");
  half.set_data("the");
  half.set_last(false);
  peer_.answers = {{.chunks = {half}, .status = absl::UnavailableError("reset")},
                   {.chunks = {half}},  // it ends well in the middle of a file
                   {.chunks = {Chunk(0, "0", "the whole")}}};
  peer_.answers[1].status = absl::UnavailableError("reset again");
  Need("n2", {0});
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(ReadText(In("map/0")), "the whole");
  EXPECT_THAT(pauses_, ElementsAre(absl::Milliseconds(200), absl::Milliseconds(400)));
}

TEST_F(InputSourceTest, AStreamThatEndsWellInTheMiddleOfAFileIsALoss) {
  v1::FileChunk half = Chunk(0, "0", "the whole");
  half.set_data("the");
  half.set_last(false);
  peer_.answers = {{.chunks = {half}}};
  Need("n2", {0});
  EXPECT_TRUE(absl::IsDataLoss(Bring().status));
}

TEST_F(InputSourceTest, APeerThatIsAwayIsGivenUpAfterSomeTriesAndAllIsLost) {
  peer_.answers = {{.status = absl::UnavailableError("refused")}};
  Need("n2", {0, 1});
  const InputOutcome out = Bring();
  EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
  EXPECT_THAT(Message(out.status), HasSubstr("stage map on n2"));
  EXPECT_THAT(out.lost, SizeIs(2));
  EXPECT_THAT(peer_.called, SizeIs(InputSource::kTriesMax));
}

TEST_F(InputSourceTest, APeersNamesLeadNowhereElse) {
  for (const char* name : {"../0", "..", "/etc/x", ""}) {
    peer_.answers = {{.chunks = {Chunk(0, name, "evil")}}};
    spec_.clear_upstream();
    Need("n2", {0});
    EXPECT_TRUE(absl::IsDataLoss(Bring().status)) << name;
  }
}

TEST_F(InputSourceTest, ThisNodesOwnDiskIsNotTheInputsFault) {
  CommitHere(0, {"0"});
  Need("n1", {0});
  fs::remove_all(place_.task_dir);
  const InputOutcome out = Bring();
  EXPECT_FALSE(out.status.ok());
  EXPECT_FALSE(absl::IsDataLoss(out.status)) << out.status;
  EXPECT_THAT(out.lost, IsEmpty());
}

TEST_F(InputSourceTest, AWholeRawInputThatNoTaskCanChangeIsLinked) {
  WriteText(Data("words"), "a b c");
  NeedRaw("n1", Data("words"));
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(out.raw_name, "words");
  EXPECT_EQ(out.local_bytes, 5);
  EXPECT_TRUE(fs::equivalent(place_.task_dir / "raw/words", Data("words")));
}

TEST_F(InputSourceTest, ARawInputThatATaskCouldChangeOrNotReadIsCopied) {
  for (const unsigned mode : {0666U, 0600U, 04644U}) {
    WriteText(Data("words"), "a b c");
    fs::permissions(Data("words"), static_cast<fs::perms>(mode));
    fs::remove_all(place_.task_dir / "raw");
    NeedRaw("n1", Data("words"));
    const InputOutcome out = Bring();
    ASSERT_TRUE(out.status.ok()) << out.status;
    EXPECT_FALSE(fs::equivalent(place_.task_dir / "raw/words", Data("words"))) << mode;
    EXPECT_EQ(ReadText(place_.task_dir / "raw/words"), "a b c");
  }
}

TEST_F(InputSourceTest, ARawInputOfTheContainersOwnUserIsCopied) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  WriteText(Data("words"), "a b c");
  ASSERT_EQ(chown(Data("words").c_str(), 100'005, 100'005), 0);
  NeedRaw("n1", Data("words"));
  ASSERT_TRUE(Bring().status.ok());
  EXPECT_FALSE(fs::equivalent(place_.task_dir / "raw/words", Data("words")));
}

TEST_F(InputSourceTest, APieceOfARawInputIsItsWholeLines) {
  WriteText(Data("words"), "ab\ncd\nef\n");
  NeedRaw("n1", Data("words"));
  spec_.mutable_input()->set_offset_bytes(1);
  spec_.mutable_input()->set_length_bytes(4);
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(ReadText(place_.task_dir / "raw/words"), "cd\n");
  EXPECT_EQ(out.local_bytes, 3);
}

TEST_F(InputSourceTest, ARawInputThatCantBeReadIsToldWithItsReason) {
  for (const std::string& path : {Data("none").native(), std::string("/etc/passwd")}) {
    NeedRaw("n1", path);
    const InputOutcome out = Bring();
    EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
    EXPECT_THAT(Message(out.status), HasSubstr(path));
  }
}

TEST_F(InputSourceTest, ARawInputOfAnotherNodeKeepsItsName) {
  peer_.answers = {{.chunks = {Chunk(0, "words", "remote")}}};
  NeedRaw("n2", "/data/words");
  const InputOutcome out = Bring();
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(ReadText(place_.task_dir / "raw/words"), "remote");
  EXPECT_THAT(out.bytes_from, ElementsAre(Pair("dc2", 6)));
}

TEST_F(InputSourceTest, ARefusalOfResidencyIsToldWithoutAnotherTry) {
  peer_.answers = {{.status = absl::PermissionDeniedError("residency: datacenter dc2")}};
  NeedRaw("n2", "/data/words");
  const InputOutcome out = Bring();
  EXPECT_TRUE(absl::IsDataLoss(out.status)) << out.status;
  EXPECT_THAT(Message(out.status), HasSubstr("residency"));
  EXPECT_THAT(peer_.called, SizeIs(1));
}

}  // namespace
}  // namespace houtu::agent
