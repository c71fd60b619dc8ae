// GrpcRemoteFiles with FileReceiver: what arrives is what was committed, or an error says so.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "absl/time/clock.h"
#include "agent/partitions/file_receiver.h"
#include "common/base/ids.h"
#include "common/base/status.h"
#include "tests/agent/service/test_node.h"

namespace houtu::agent {
namespace {

using ::testing::HasSubstr;

class RemoteFilesTest : public ::testing::Test {
 protected:
  static AttemptKey Map(int task) {
    return {.job = kAlicesJob, .stage = "map", .task = task, .attempt = 1};
  }

  /// Into into_; `lost_` is what the node said is gone.
  absl::Status Bring(const std::vector<int>& tasks) {
    FileReceiver receiver(into_.path() / "fetched");
    HOUTU_RETURN_IF_ERROR(remote_.FetchPartitions(
        node_.address(), Partitions(kAlicesJob, "map", tasks),
        [&](const v1::FileChunk& chunk) { return receiver.Take(chunk); }, &lost_));
    return receiver.End();
  }

  std::string Brought(const std::string& name) const {
    return testing::ReadText(into_.path() / "fetched" / name);
  }

  TestPki pki_;
  TestNode node_{&pki_, "dc1", "n1"};
  const testing::TempFolder into_;
  ChannelPool channels_{pki_.Issue("houtu:agent/dc2/n2")};
  GrpcRemoteFiles remote_{&channels_};
  std::vector<v1::PartitionRef> lost_;
};

TEST_F(RemoteFilesTest, FilesAreBroughtWhole) {
  const std::string large = RandomBytes(static_cast<int>(kPieceBytes) * 2 + 1);
  node_.Commit(Map(0), {{"0", large}, {"empty", ""}});
  ASSERT_TRUE(Bring({0}).ok());
  EXPECT_EQ(Brought("0/0"), large);
  EXPECT_TRUE(std::filesystem::is_empty(into_.path() / "fetched/0/empty"));
}

TEST_F(RemoteFilesTest, AByteThatTheDiskSpoiltIsNoticed) {
  node_.Commit(Map(0), {{"0", std::string(1000, 'x')}});
  node_.Spoil(Map(0), "0", std::string(999, 'x') + "y");
  const absl::Status status = Bring({0});
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST_F(RemoteFilesTest, AFileThatBecameShorterIsLostAndTheOthersAreNot) {
  node_.Commit(Map(0), {{"0", "whole"}});
  node_.Commit(Map(1), {{"0", "cut short"}});
  node_.Spoil(Map(1), "0", "cut");
  const absl::Status status = Bring({0, 1});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  ASSERT_EQ(lost_.size(), 1u);
  EXPECT_EQ(lost_[0].task(), 1);
}

TEST_F(RemoteFilesTest, AllMissingPartitionsAreNamedBeforeAnyByteComes) {
  node_.Commit(Map(1), {{"0", "here"}});
  const absl::Status status = Bring({1, 0, 2});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  ASSERT_EQ(lost_.size(), 2u);
  EXPECT_EQ(lost_[0].task(), 0);
  EXPECT_EQ(lost_[1].task(), 2);
  EXPECT_FALSE(std::filesystem::exists(into_.path() / "fetched"));
}

TEST_F(RemoteFilesTest, TheReceiversErrorEndsTheStream) {
  node_.Commit(Map(0), {{"0", std::string(64 << 20, 'x')}});
  int chunks = 0;
  const absl::Status status = remote_.FetchPartitions(
      node_.address(), Partitions(kAlicesJob, "map", {0}),
      [&](const v1::FileChunk&) {
        ++chunks;
        return absl::ResourceExhaustedError("the disk is full");
      },
      &lost_);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(chunks, 1);
}

TEST_F(RemoteFilesTest, ANodeThatIsNotThereIsUnavailable) {
  int port = 0;
  {
    TestNode gone(&pki_, "dc1", "n3");
    port = std::stoi(gone.address().substr(gone.address().find(':') + 1));
  }
  v1::FetchInputRequest request;
  const absl::Status status =
      remote_.FetchInput(fmt::format("127.0.0.1:{}", port), request,
                         [](const v1::FileChunk&) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

/// Sends some chunks, then nothing until the caller is gone.
class StallingService final : public v1::PartitionService::Service {
 public:
  explicit StallingService(int chunks) : chunks_(chunks) {}

  grpc::Status FetchInput(grpc::ServerContext*, const v1::FetchInputRequest*,
                          grpc::ServerWriter<v1::FileChunk>* writer) override {
    v1::FileChunk chunk;
    chunk.set_data("x");
    for (int i = 0; i < chunks_; ++i) {
      writer->Write(chunk);
    }
    release_.get_future().wait();
    return grpc::Status::OK;
  }
  void Release() { release_.set_value(); }

 private:
  const int chunks_;
  std::promise<void> release_;
};

class StallTest : public RemoteFilesTest {
 protected:
  static constexpr absl::Duration kIdle = absl::Milliseconds(500);

  absl::Status FetchFrom(StallingService* service, const ChunkSink& sink) {
    auto server = RpcServer::Start("127.0.0.1:0", pki_.Issue("houtu:agent/dc1/n1"), {service});
    if (!server.ok()) return server.status();
    GrpcRemoteFiles impatient(&channels_, kIdle);
    const absl::Status status = impatient.FetchInput(fmt::format("127.0.0.1:{}", (*server)->port()),
                                                     v1::FetchInputRequest(), sink);
    service->Release();
    return status;
  }
};

TEST_F(StallTest, AStreamOnWhichNothingArrivesIsGivenUp) {
  StallingService service(1);
  int chunks = 0;
  const absl::Status status = FetchFrom(&service, [&](const v1::FileChunk&) {
    ++chunks;
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("nothing arrived for 500ms"));
  EXPECT_EQ(chunks, 1);
}

TEST_F(StallTest, AStreamThatMovesMayLastLongerThanTheLimitOfOneWait) {
  StallingService service(4);
  int chunks = 0;
  const absl::Status status = FetchFrom(&service, [&](const v1::FileChunk&) {
    absl::SleepFor(kIdle / 2);  // a receiver that takes its time: none of the waits is long
    return ++chunks == 4 ? absl::AbortedError("all came") : absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsAborted(status)) << status;
}

}  // namespace
}  // namespace houtu::agent
