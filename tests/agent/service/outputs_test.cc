// WriteOutput: a job's result, whole or not at all, below the node's output_roots alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "common/base/status.h"
#include "common/rpc/status.h"
#include "tests/agent/service/test_node.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A reader of other nodes that does what the test says.
class ScriptedRemote final : public RemoteFiles {
 public:
  std::function<absl::Status(const ChunkSink&)> on_fetch;

  absl::Status FetchPartitions(const std::string&, const v1::FetchPartitionsRequest&,
                               const ChunkSink& sink, std::vector<v1::PartitionRef>*) override {
    return on_fetch(sink);
  }
  absl::Status FetchInput(const std::string&, const v1::FetchInputRequest&,
                          const ChunkSink&) override {
    return absl::UnimplementedError("no test needs it");
  }
};

v1::FileChunk FirstChunk(const std::string& data, int64_t size) {
  v1::FileChunk chunk;
  chunk.mutable_header()->set_task(7);
  chunk.mutable_header()->set_name("0");
  chunk.mutable_header()->set_size_bytes(size);
  chunk.set_data(data);
  chunk.set_last(static_cast<int64_t>(data.size()) == size);
  return chunk;
}

class OutputsTest : public ::testing::Test {
 protected:
  static AttemptKey Reduce(int task) {
    return {.job = kAlicesJob, .stage = "reduce", .task = task, .attempt = 1};
  }
  v1::WriteOutputRequest Request(const std::vector<v1::PartitionSource>& sources) const {
    v1::WriteOutputRequest request;
    request.set_job(kAlicesJob);
    request.set_path(node_.out() / "words");
    *request.mutable_sources() = {sources.begin(), sources.end()};
    return request;
  }
  absl::StatusOr<int64_t> Write(const v1::WriteOutputRequest& request,
                                const std::string& role = "houtu:manager/dc2/n7") {
    ChannelPool channels(pki_.Issue(role));
    const auto stub = v1::PartitionService::NewStub(channels.Get(node_.address()));
    grpc::ClientContext context;
    v1::WriteOutputResponse response;
    const grpc::Status status = stub->WriteOutput(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    if (response.lost_size() > 0) return absl::DataLossError(NamesOf(response));
    return response.bytes();
  }
  /// "why; stage/task#attempt on node ...".
  static std::string NamesOf(const v1::WriteOutputResponse& response) {
    std::string names = response.why() + ";";
    for (const v1::LostPartition& lost : response.lost()) {
      names +=
          fmt::format(" {}/{}#{} on {}", lost.stage(), lost.task(), lost.attempt(), lost.node());
    }
    return names;
  }

  /// All below the folder, sorted.
  static std::vector<std::string> Tree(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      names.push_back(entry.path().lexically_relative(folder).native());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Written(const std::string& name) const {
    return testing::ReadText(node_.out() / "words" / name);
  }

  TestPki pki_;
  ScriptedRemote scripted_;
  TestNode node_{&pki_, "dc1", "n1"};
  TestNode other_{&pki_, "dc2", "n1"};  // of the same name, elsewhere
  TestNode with_scripted_{&pki_, "dc1", "n2", &scripted_};
};

TEST_F(OutputsTest, TheResultIsGatheredFromAllNodesIntoAFolderPerTask) {
  node_.Commit(Reduce(0), {{"0", "here"}, {"1", "too"}});
  other_.Commit(Reduce(1), {{"0", "from afar"}});
  other_.Commit(Reduce(2), {});
  const auto bytes = Write(Request({node_.Source("reduce", {0}), other_.Source("reduce", {1, 2})}));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, 4 + 3 + 9);
  EXPECT_THAT(Tree(node_.out()), ElementsAre("words", "words/0", "words/0/0", "words/0/1",
                                             "words/1", "words/1/0", "words/2"));
  EXPECT_EQ(Written("0/0"), "here");
  EXPECT_EQ(Written("1/0"), "from afar");
}

TEST_F(OutputsTest, MastersMayAskForItAndOthersNot) {
  node_.Commit(Reduce(0), {{"0", "here"}});
  const v1::WriteOutputRequest request = Request({node_.Source("reduce", {0})});
  for (const char* role : {"houtu:agent/dc1/n1", "houtu:client/alice", "houtu:admin/root"}) {
    const absl::Status status = Write(request, role).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << role << status;
    EXPECT_THAT(Tree(node_.out()), IsEmpty());
  }
  EXPECT_TRUE(Write(request, "houtu:master/dc2").ok());
}

TEST_F(OutputsTest, NothingIsWrittenOutsideTheRoots) {
  node_.Commit(Reduce(0), {{"0", "here"}});
  const fs::path elsewhere = node_.data();
  fs::create_directory_symlink(elsewhere, node_.out() / "link");
  v1::WriteOutputRequest request = Request({node_.Source("reduce", {0})});
  for (const fs::path& path :
       {elsewhere / "words", node_.out() / "../data/words", node_.out() / "link/words",
        node_.out() / "link", node_.out(), node_.out() / ".", fs::path("words"), fs::path(),
        fs::path(node_.out().native() + "side/words")}) {
    request.set_path(path);
    const absl::Status status = Write(request).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << path << status;
  }
  EXPECT_THAT(Tree(elsewhere), IsEmpty());
  EXPECT_THAT(Tree(node_.out()), ElementsAre("link"));
}

TEST_F(OutputsTest, NamesInTheRequestLeadNowhereElse) {
  node_.Commit(Reduce(0), {{"0", "here"}});
  v1::WriteOutputRequest request = Request({node_.Source("reduce", {0})});
  request.set_job("../x");
  EXPECT_TRUE(absl::IsNotFound(Write(request).status()));
  request = Request({node_.Source("../reduce", {0})});
  EXPECT_TRUE(absl::IsInvalidArgument(Write(request).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Write(Request({})).status()));
  EXPECT_THAT(Tree(node_.out()), IsEmpty());
}

TEST_F(OutputsTest, APathWithASlashAtItsEndIsTheSamePath) {
  node_.Commit(Reduce(0), {{"0", "here"}});
  v1::WriteOutputRequest request = Request({node_.Source("reduce", {0})});
  request.set_path(node_.out().native() + "/deep/words/");
  ASSERT_TRUE(Write(request).ok());
  EXPECT_THAT(Tree(node_.out()),
              ElementsAre("deep", "deep/words", "deep/words/0", "deep/words/0/0"));
}

TEST_F(OutputsTest, NothingIsWrittenWhereAPartitionIsDamagedOrGone) {
  node_.Commit(Reduce(0), {{"0", "good"}});
  node_.Commit(Reduce(1), {{"0", "spoilt"}});
  other_.Commit(Reduce(2), {{"0", "spoilt"}});
  node_.Spoil(Reduce(1), "0", "sp0ilt");
  other_.Spoil(Reduce(2), "0", "sp0ilt");
  const auto lost = [this](const std::vector<v1::PartitionSource>& sources) {
    const absl::Status status = Write(Request(sources)).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return Message(status);
  };
  const std::string here = lost({node_.Source("reduce", {0, 1})});
  EXPECT_THAT(here, HasSubstr("stage reduce on n1: "));
  EXPECT_THAT(here, EndsWith("; reduce/1#1 on n1"));
  EXPECT_THAT(lost({node_.Source("reduce", {0}), other_.Source("reduce", {2})}),
              EndsWith("; reduce/2#1 on n1"));
  EXPECT_THAT(lost({node_.Source("reduce", {8, 0, 9})}),
              EndsWith("; reduce/8#1 on n1 reduce/9#1 on n1"));
  EXPECT_THAT(Tree(node_.out()), IsEmpty());
}

TEST_F(OutputsTest, AnEarlierResultIsReplacedAsAWhole) {
  node_.Commit(Reduce(0), {{"0", "new"}});
  testing::WriteText(node_.out() / "words/0/0", "old");
  testing::WriteText(node_.out() / "words/1/0", "old");
  const v1::WriteOutputRequest request = Request({node_.Source("reduce", {0})});
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(Write(request).ok());
    EXPECT_THAT(Tree(node_.out()), ElementsAre("words", "words/0", "words/0/0"));
    EXPECT_EQ(Written("0/0"), "new");
  }
}

TEST_F(OutputsTest, AnEarlierResultStaysWhereTheNewOneFails) {
  node_.Commit(Reduce(0), {{"0", "new"}});
  testing::WriteText(node_.out() / "words/0/0", "old");
  EXPECT_FALSE(Write(Request({node_.Source("reduce", {0, 1})})).ok());
  EXPECT_THAT(Tree(node_.out()), ElementsAre("words", "words/0", "words/0/0"));
  EXPECT_EQ(Written("0/0"), "old");
}

TEST_F(OutputsTest, WhatIsNoResultIsKept) {
  node_.Commit(Reduce(0), {{"0", "new"}});
  testing::WriteText(node_.out() / "words/diary", "mine");
  const absl::Status status = Write(Request({node_.Source("reduce", {0})})).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("diary"));
  EXPECT_THAT(Tree(node_.out()), ElementsAre("words", "words/diary"));
}

TEST_F(OutputsTest, AnEmptyFolderIsFilled) {
  node_.Commit(Reduce(0), {{"0", "new"}});
  fs::create_directory(node_.out() / "words");
  ASSERT_TRUE(Write(Request({node_.Source("reduce", {0})})).ok());
  EXPECT_EQ(Written("0/0"), "new");
}

TEST_F(OutputsTest, AStreamThatBreaksIsTriedAgainFromItsStart) {
  int tries = 0;
  scripted_.on_fetch = [&](const ChunkSink& sink) {
    if (++tries < 3) {
      const absl::Status taken = sink(FirstChunk("hal", 5));
      return taken.ok() ? absl::UnavailableError("the stream broke") : taken;
    }
    return sink(FirstChunk("whole", 5));
  };
  v1::WriteOutputRequest request = Request({other_.Source("reduce", {7})});
  request.set_path(with_scripted_.out() / "words");
  const auto response = with_scripted_.outputs().Write(request, [] { return false; });
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->bytes(), 5);
  EXPECT_EQ(testing::ReadText(with_scripted_.out() / "words/7/0"), "whole");
}

TEST_F(OutputsTest, AllOfANodeThatStaysAwayIsLostAfterAllTries) {
  int tries = 0;
  scripted_.on_fetch = [&](const ChunkSink&) {
    ++tries;
    return absl::UnavailableError("away");
  };
  v1::WriteOutputRequest request = Request({other_.Source("reduce", {7, 8})});
  request.set_path(with_scripted_.out() / "words");
  const auto response = with_scripted_.outputs().Write(request, [] { return false; });
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_THAT(NamesOf(*response), EndsWith("away; reduce/7#1 on n1 reduce/8#1 on n1"));
  EXPECT_EQ(tries, kStreamTriesMax);
  EXPECT_THAT(Tree(with_scripted_.out()), IsEmpty());
}

TEST_F(OutputsTest, AWritingForWhichNobodyWaitsAnyMoreStopsAndTheNextGetsItsTurn) {
  std::promise<void> begun;
  std::promise<absl::Status> stopped;
  scripted_.on_fetch = [&](const ChunkSink& sink) {
    absl::Status status = sink(FirstChunk("x", 1 << 30));
    begun.set_value();
    v1::FileChunk more;
    while (status.ok()) {  // without an end, as long as somebody wants it
      status = sink(more);
    }
    stopped.set_value(status);
    return status;
  };
  v1::WriteOutputRequest request = Request({other_.Source("reduce", {7})});
  request.set_path(with_scripted_.out() / "words");
  ChannelPool channels(pki_.Issue("houtu:manager/dc1/n1"));
  const auto stub = v1::PartitionService::NewStub(channels.Get(with_scripted_.address()));
  grpc::ClientContext context;
  std::future<grpc::Status> call = std::async(std::launch::async, [&] {
    v1::WriteOutputResponse response;
    return stub->WriteOutput(&context, request, &response);
  });
  begun.get_future().wait();
  context.TryCancel();
  EXPECT_EQ(call.get().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(absl::IsAborted(stopped.get_future().get()));

  scripted_.on_fetch = [](const ChunkSink& sink) { return sink(FirstChunk("next", 4)); };
  const auto response = with_scripted_.outputs().Write(request, [] { return false; });
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_THAT(response->lost(), IsEmpty());
  EXPECT_THAT(Tree(with_scripted_.out()), ElementsAre("words", "words/7", "words/7/0"));
}

}  // namespace
}  // namespace houtu::agent
