// ReadLog: a task's log while it is written and after, to its end and no further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/executor/log_format.h"
#include "agent/partitions/files.h"
#include "agent/service/log_stream.h"
#include "common/rpc/status.h"
#include "tests/agent/service/test_node.h"

namespace houtu::agent {
namespace {

class LogsTest : public ::testing::Test {
 protected:
  static AttemptKey Map(int attempt) {
    return {.job = kAlicesJob, .stage = "map", .task = 0, .attempt = attempt};
  }
  static v1::ReadLogRequest Request(int attempt) {
    v1::ReadLogRequest request;
    *request.mutable_id() = ToProto(Map(attempt));
    return request;
  }

  /// The attempt runs and has written `text`.
  void Run(int attempt, const std::string& text) {
    testing::WriteText(node_.TaskDir(Map(attempt)) / kLogHeadName, text);
    node_.logs().AddLive(Map(attempt), node_.TaskDir(Map(attempt)));
  }
  void Append(int attempt, const std::string& text) {
    std::ofstream(node_.TaskDir(Map(attempt)) / kLogHeadName, std::ios::app) << text;
  }
  void End(int attempt) {
    ASSERT_TRUE(node_.logs().Keep(Map(attempt), node_.TaskDir(Map(attempt))).ok());
  }

  struct Log {
    absl::Status status;
    std::string text;
    int64_t offset = -1;  // of the first chunk
    bool end = false;
  };
  Log Read(const v1::ReadLogRequest& request, const std::string& role = "houtu:client/alice") {
    ChannelPool channels(pki_.Issue(role));
    const auto stub = v1::PartitionService::NewStub(channels.Get(node_.address()));
    grpc::ClientContext context;
    const auto reader = stub->ReadLog(&context, request);
    Log log;
    v1::LogChunk chunk;
    while (reader->Read(&chunk)) {
      EXPECT_FALSE(log.end) << "nothing comes after the end";
      log.offset = log.offset < 0 ? chunk.offset_bytes() : log.offset;
      log.text += chunk.data();
      log.end = chunk.end();
    }
    log.status = FromGrpc(reader->Finish());
    return log;
  }

  TestPki pki_;
  TestNode node_{&pki_, "dc1", "n1"};
};

TEST_F(LogsTest, AnEndedAttemptsLogComesWholeAndSaysThatItIsAll) {
  const std::string text(kPieceBytes * 2, 'x');
  Run(1, text);
  End(1);
  for (const bool follow : {false, true}) {
    v1::ReadLogRequest request = Request(1);
    request.set_follow(follow);
    const Log log = Read(request);
    EXPECT_TRUE(log.status.ok()) << log.status;
    EXPECT_EQ(log.text, text);
    EXPECT_TRUE(log.end);
  }
}

TEST_F(LogsTest, AnEmptyLogOfAnEndedAttemptSaysItsEnd) {
  Run(1, "");
  End(1);
  const Log log = Read(Request(1));
  EXPECT_TRUE(log.status.ok()) << log.status;
  EXPECT_EQ(log.text, "");
  EXPECT_TRUE(log.end);
}

TEST_F(LogsTest, ARunningAttemptsLogEndsWithoutSayingThatItIsAll) {
  Run(1, "so far");
  const Log log = Read(Request(1));
  EXPECT_TRUE(log.status.ok()) << log.status;
  EXPECT_EQ(log.text, "so far");
  EXPECT_FALSE(log.end);
}

TEST_F(LogsTest, FollowingEndsWhenTheAttemptEndsAndAllWasSent) {
  Run(1, "first ");
  ChannelPool channels(pki_.Issue("houtu:client/alice"));
  const auto stub = v1::PartitionService::NewStub(channels.Get(node_.address()));
  grpc::ClientContext context;
  v1::ReadLogRequest request = Request(1);
  request.set_follow(true);
  const auto reader = stub->ReadLog(&context, request);
  v1::LogChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_EQ(chunk.data(), "first ");
  Append(1, "second ");
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_EQ(chunk.data(), "second ");
  EXPECT_EQ(chunk.offset_bytes(), 6);
  EXPECT_FALSE(chunk.end());
  Append(1, "last");
  End(1);
  std::string rest;
  bool end = false;
  while (reader->Read(&chunk)) {
    rest += chunk.data();
    end = chunk.end();
  }
  EXPECT_EQ(rest, "last");
  EXPECT_TRUE(end);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(LogsTest, AFollowerThatLeavesEndsItsStream) {
  Run(1, "first");
  ChannelPool channels(pki_.Issue("houtu:client/alice"));
  const auto stub = v1::PartitionService::NewStub(channels.Get(node_.address()));
  v1::ReadLogRequest request = Request(1);
  request.set_follow(true);
  grpc::ClientContext context;
  const auto reader = stub->ReadLog(&context, request);
  v1::LogChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  context.TryCancel();
  EXPECT_FALSE(reader->Read(&chunk));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  // The node's end would hang on a stream that goes on.
}

TEST_F(LogsTest, ATailOrAnOffsetSkipsWhatIsNotWanted) {
  Run(1, "0123456789");
  End(1);
  v1::ReadLogRequest request = Request(1);
  request.set_tail_bytes(3);
  EXPECT_EQ(Read(request).text, "789");
  EXPECT_EQ(Read(request).offset, 7);
  request.set_tail_bytes(0);
  request.set_offset_bytes(4);
  EXPECT_EQ(Read(request).text, "456789");
  request.set_offset_bytes(100);
  const Log beyond = Read(request);
  EXPECT_EQ(beyond.text, "");
  EXPECT_TRUE(beyond.end);
}

TEST_F(LogsTest, AttemptZeroIsTheNewest) {
  Run(1, "one");
  End(1);
  Run(2, "two");
  EXPECT_EQ(Read(Request(0)).text, "two");
  EXPECT_EQ(Read(Request(1)).text, "one");
}

TEST_F(LogsTest, WhoMayNotReadItIsToldSo) {
  Run(1, "secret");
  for (const char* role : {"houtu:client/bob", "houtu:manager/dc1/n1"}) {
    const Log log = Read(Request(1), role);
    EXPECT_TRUE(absl::IsPermissionDenied(log.status)) << role << log.status;
    EXPECT_EQ(log.text, "") << role;
  }
  for (const char* role : {"houtu:admin/root", "houtu:agent/dc2/n1", "houtu:master/dc1"}) {
    EXPECT_EQ(Read(Request(1), role).text, "secret") << role;
  }
}

TEST_F(LogsTest, NoLogIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Read(Request(1)).status));
  v1::ReadLogRequest request = Request(1);
  request.mutable_id()->set_job("j0000000000000000009");
  EXPECT_TRUE(absl::IsNotFound(Read(request).status));
}

TEST_F(LogsTest, ATaskThatWritesForEverKeepsNoReaderThatDoesNotFollow) {
  Run(1, std::string(kPieceBytes + 10, 'x'));
  LogStream stream(&node_.logs(), Request(1));
  int chunks = 0;
  while (stream.Next().kind == Pulled<v1::LogChunk>::Kind::kMessage) {
    Append(1, std::string(kPieceBytes, 'y'));
    ASSERT_LT(++chunks, 10);
  }
  EXPECT_EQ(chunks, 2);
}

TEST_F(LogsTest, ALogThatMovesWhileItIsReadIsReadToItsEnd) {
  Run(1, "first");
  LogStream stream(&node_.logs(), Request(1));
  EXPECT_EQ(stream.Next().message.data(), "first");
  Append(1, "second");
  // Between the two files' moves: the head is gone from the task's folder, and not yet the job's.
  const std::filesystem::path head = node_.TaskDir(Map(1)) / kLogHeadName;
  std::filesystem::rename(head, head.native() + ".moving");
  EXPECT_EQ(stream.Next().kind, Pulled<v1::LogChunk>::Kind::kWait);
  std::filesystem::rename(head.native() + ".moving", head);
  End(1);
  const auto last = stream.Next();
  EXPECT_EQ(last.message.data(), "second");
  EXPECT_TRUE(last.message.end());
}

}  // namespace
}  // namespace houtu::agent
