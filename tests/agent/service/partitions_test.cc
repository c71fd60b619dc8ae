// FetchPartitions: whole files with their checksums, for those who may have them.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/ids.h"
#include "common/base/status.h"
#include "tests/agent/service/test_node.h"

namespace houtu::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class PartitionsTest : public ::testing::Test {
 protected:
  static AttemptKey Map(int task, const std::string& job = kAlicesJob) {
    return {.job = job, .stage = "map", .task = task, .attempt = 1};
  }

  TestPki pki_;
  TestNode node_{&pki_, "dc1", "n1"};
};

TEST_F(PartitionsTest, FilesArriveWholeInSmallChunksWithSizeAndChecksum) {
  const std::string large = RandomBytes(3 * static_cast<int>(kPieceBytes) + 7);
  node_.Commit(Map(0), {{"0", large}, {"empty", ""}});
  node_.Commit(Map(1), {{"0", "second"}});
  node_.Commit(Map(2), {});
  const FetchedFiles fetched =
      Fetch(&pki_, "houtu:agent/dc2/n9", node_, Partitions(kAlicesJob, "map", {0, 1, 2}));
  ASSERT_TRUE(fetched.status.ok()) << fetched.status;
  EXPECT_THAT(fetched.files,
              UnorderedElementsAre(Pair("0/0", large), Pair("0/empty", ""), Pair("1/0", "second")));
  EXPECT_EQ(fetched.chunks, 4 + 1 + 1);
  EXPECT_EQ(fetched.largest_chunk, kPieceBytes);
  for (const auto& [name, header] : fetched.headers) {
    EXPECT_EQ(header.size_bytes(), static_cast<int64_t>(fetched.files.at(name).size())) << name;
    EXPECT_EQ(header.sha256(), Sha256(fetched.files.at(name))) << name;
    EXPECT_EQ(header.attempt(), 1) << name;
  }
}

TEST_F(PartitionsTest, OneFileOfATaskComesAloneWhereItIsNamed) {
  node_.Commit(Map(0), {{"0", "zero"}, {"1", "one"}});
  v1::FetchPartitionsRequest request = Partitions(kAlicesJob, "map", {0});
  request.mutable_partitions(0)->set_name("1");
  const FetchedFiles fetched = Fetch(&pki_, "houtu:agent/dc1/n2", node_, request);
  EXPECT_TRUE(fetched.status.ok()) << fetched.status;
  EXPECT_THAT(fetched.files, UnorderedElementsAre(Pair("0/1", "one")));
}

TEST_F(PartitionsTest, TheClusterAndTheAccountsClientsAreServed) {
  node_.Commit(Map(0), {{"0", "zero"}});
  for (const char* role : {"houtu:agent/dc2/n9", "houtu:manager/dc2/n9", "houtu:master/dc2",
                           "houtu:client/alice", "houtu:admin/root"}) {
    const FetchedFiles fetched = Fetch(&pki_, role, node_, Partitions(kAlicesJob, "map", {0}));
    EXPECT_TRUE(fetched.status.ok()) << role << ": " << fetched.status;
    EXPECT_THAT(fetched.files, UnorderedElementsAre(Pair("0/0", "zero"))) << role;
  }
}

TEST_F(PartitionsTest, AnotherAccountsClientIsRefused) {
  node_.Commit(Map(0), {{"0", "zero"}});
  const FetchedFiles fetched =
      Fetch(&pki_, "houtu:client/bob", node_, Partitions(kAlicesJob, "map", {0}));
  EXPECT_TRUE(absl::IsPermissionDenied(fetched.status)) << fetched.status;
  EXPECT_THAT(Message(fetched.status), HasSubstr("client of account bob may not read"));
  EXPECT_TRUE(fetched.files.empty());
}

TEST_F(PartitionsTest, AJobThatWasNeverHereIsNotFound) {
  for (const char* role : {"houtu:client/alice", "houtu:admin/root", "houtu:agent/dc1/n2"}) {
    for (const char* job : {"j0000000000000000009", "..", "", "j1/../j2"}) {
      const FetchedFiles fetched = Fetch(&pki_, role, node_, Partitions(job, "map", {0}));
      EXPECT_TRUE(absl::IsNotFound(fetched.status)) << role << " " << job << fetched.status;
    }
  }
}

TEST_F(PartitionsTest, AStagesNameLeadsToNoOtherJob) {
  node_.Commit(Map(0, kBobsJob), {{"0", "bob's"}});
  node_.Commit(Map(0), {{"0", "alice's"}});
  const std::string up = std::string("../") + kBobsJob + "/map";
  for (const std::string& stage : {up, std::string(".."), std::string(), "map/../" + up}) {
    const FetchedFiles fetched =
        Fetch(&pki_, "houtu:client/alice", node_, Partitions(kAlicesJob, stage, {0}));
    EXPECT_TRUE(absl::IsInvalidArgument(fetched.status)) << stage << ": " << fetched.status;
    EXPECT_TRUE(fetched.files.empty()) << stage;
  }
}

TEST_F(PartitionsTest, AFilesNameLeadsToNoOtherFile) {
  node_.Commit(Map(0), {{"0", "alice's"}});
  for (const char* name : {"/etc/passwd", "../0.1/0", ".manifest", ".."}) {
    v1::FetchPartitionsRequest request = Partitions(kAlicesJob, "map", {0});
    request.mutable_partitions(0)->set_name(name);
    const FetchedFiles fetched = Fetch(&pki_, "houtu:client/alice", node_, request);
    EXPECT_TRUE(absl::IsNotFound(fetched.status)) << name << ": " << fetched.status;
    EXPECT_TRUE(fetched.files.empty()) << name;
  }
}

TEST_F(PartitionsTest, WithoutACertificateOfOursNothingIsServed) {
  node_.Commit(Map(0), {{"0", "zero"}});
  const std::string ca = pki_.Issue("houtu:client/alice").ca;
  const std::shared_ptr<grpc::Channel> channels[] = {
      grpc::CreateChannel(node_.address(), grpc::InsecureChannelCredentials()),
      grpc::CreateChannel(node_.address(), grpc::SslCredentials({.pem_root_certs = ca,
                                                                 .pem_private_key = "",
                                                                 .pem_cert_chain = ""}))};
  for (const auto& channel : channels) {
    grpc::ClientContext context;
    const auto reader = v1::PartitionService::NewStub(channel)->FetchPartitions(
        &context, Partitions(kAlicesJob, "map", {0}));
    v1::FileChunk chunk;
    EXPECT_FALSE(reader->Read(&chunk));
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
  const FetchedFiles fetched =
      Fetch(&pki_, "urn:nobody", node_, Partitions(kAlicesJob, "map", {0}));
  EXPECT_TRUE(absl::IsUnauthenticated(fetched.status)) << fetched.status;
}

TEST_F(PartitionsTest, ASlowReaderKeepsTheServerFromReadingOn) {
  node_.Commit(Map(0), {{"0", std::string(64 << 20, 'x')}});
  ChannelPool channels(pki_.Issue("houtu:agent/dc1/n2"));
  const auto stub = v1::PartitionService::NewStub(channels.Get(node_.address()));
  grpc::ClientContext context;
  const auto reader = stub->FetchPartitions(&context, Partitions(kAlicesJob, "map", {0}));
  v1::FileChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  // What the server has not read yet is gone now: had it read ahead, all would still arrive.
  node_.Spoil(Map(0), "0", "");
  while (reader->Read(&chunk)) {
    EXPECT_FALSE(chunk.last());
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace houtu::agent
