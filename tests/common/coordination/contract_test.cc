// The contract of Coordination: nodes, versions, ephemerals, multis, limits, sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/status.h"
#include "tests/common/coordination/contract_fixture.h"

namespace houtu::testing {
namespace {

using coordination::CheckOp;
using coordination::CreateFlags;
using coordination::CreateOp;
using coordination::DeleteOp;
using coordination::kRecordBytesMax;
using coordination::MultiResult;
using coordination::Op;
using coordination::SessionState;
using coordination::SetOp;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr CreateFlags kEphemeral{.ephemeral = true, .sequential = false};
constexpr CreateFlags kSequential{.ephemeral = false, .sequential = true};

TEST_F(ContractTest, EachSetRaisesTheVersionAndAWrongOneIsRefused) {
  auto client = Open();
  ASSERT_EQ(*client->store().Create("/a", "one"), "/a");
  EXPECT_EQ(client->store().Get("/a")->stat.version, 0);
  EXPECT_EQ(client->store().Set("/a", "two", 0)->version, 1);
  EXPECT_TRUE(absl::IsAborted(client->store().Set("/a", "three", 0).status()));
  EXPECT_EQ(client->store().Set("/a", "four")->version, 2);
  EXPECT_EQ(client->store().Get("/a")->data, "four");
  EXPECT_TRUE(absl::IsAborted(client->store().Delete("/a", 1)));
  EXPECT_TRUE(client->store().Delete("/a", 2).ok());
}

TEST_F(ContractTest, DataArriveByteForByte) {
  auto client = Open();
  const std::string bytes("\0\xff\n\0", 4);
  ASSERT_TRUE(client->store().Create("/bytes", bytes).ok());
  ASSERT_TRUE(client->store().Create("/none", "").ok());
  EXPECT_EQ(client->store().Get("/bytes")->data, bytes);
  EXPECT_EQ(client->store().Get("/none")->data, "");
}

TEST_F(ContractTest, CodesNameWhatIsWrongWithTheTree) {
  auto client = Open();
  EXPECT_TRUE(absl::IsNotFound(client->store().Get("/none").status()));
  EXPECT_TRUE(absl::IsNotFound(client->store().Set("/none", "").status()));
  EXPECT_TRUE(absl::IsNotFound(client->store().Delete("/none")));
  EXPECT_TRUE(absl::IsNotFound(client->store().GetChildren("/none").status()));
  EXPECT_TRUE(absl::IsNotFound(client->store().Create("/none/child", "").status()));
  EXPECT_FALSE(client->store().Exists("/none")->has_value());
  ASSERT_TRUE(client->store().EnsurePath("/a/b/c").ok());
  EXPECT_TRUE(client->store().EnsurePath("/a/b/c").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(client->store().Create("/a", "").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(client->store().Delete("/a/b")));
}

TEST_F(ContractTest, MalformedPathsAreRefused) {
  auto client = Open();
  for (const std::string path : {"", "a", "/a/", "//", "/a//b", "/a/../b", "/.", "/a\nb"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(client->store().Create(path, "").status())) << path;
    EXPECT_TRUE(absl::IsInvalidArgument(client->store().Get(path).status())) << path;
  }
}

TEST_F(ContractTest, ChildrenAreSortedNamesAndCountInTheStat) {
  auto client = Open();
  ASSERT_TRUE(client->store().EnsurePath("/p/b").ok());
  ASSERT_TRUE(client->store().EnsurePath("/p/a/deep").ok());
  ASSERT_TRUE(client->store().EnsurePath("/pp").ok());
  EXPECT_THAT(*client->store().GetChildren("/p"), ElementsAre("a", "b"));
  ASSERT_TRUE(client->store().Delete("/p/b").ok());
  const auto stat = *client->store().Exists("/p");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->num_children, 1);
  EXPECT_EQ(stat->cversion, 3);
  EXPECT_EQ(stat->version, 0);
  EXPECT_GT(stat->pzxid, stat->czxid);
}

TEST_F(ContractTest, SequentialNodesRiseAlsoOverDeletions) {
  auto client = Open();
  ASSERT_TRUE(client->store().Create("/q", "").ok());
  EXPECT_EQ(*client->store().Create("/q/n-", "", kSequential), "/q/n-0000000000");
  EXPECT_EQ(*client->store().Create("/q/m-", "", kSequential), "/q/m-0000000001");
  ASSERT_TRUE(client->store().Delete("/q/m-0000000001").ok());
  EXPECT_EQ(*client->store().Create("/q/n-", "", kSequential), "/q/n-0000000002");
}

TEST_F(ContractTest, EphemeralsGoWithTheirSessionAndHaveNoChildren) {
  auto owner = Open();
  auto other = Open();
  ASSERT_TRUE(owner->store().Create("/e", "", kEphemeral).ok());
  EXPECT_EQ((*other->store().Exists("/e"))->ephemeral_owner, owner->coordination()->session_id());
  EXPECT_TRUE(absl::IsFailedPrecondition(other->store().Create("/e/child", "").status()));
  owner->Close();
  EXPECT_FALSE(other->store().Exists("/e")->has_value());
}

TEST_F(ContractTest, EphemeralsSurviveALostConnection) {
  auto owner = Open();
  auto other = Open();
  ASSERT_TRUE(owner->store().Create("/e", "", kEphemeral).ok());
  owner->Disconnect();
  owner->Reconnect();
  EXPECT_TRUE(other->store().Exists("/e")->has_value());
}

TEST_F(ContractTest, AMultiAnswersForEachOperation) {
  auto client = Open();
  ASSERT_TRUE(client->store().Create("/a", "").ok());
  const MultiResult result = client->store().Multi(
      {CheckOp{"/a", 0}, SetOp{"/a", "x", 0}, CreateOp{"/a/s-", "y", kSequential},
       CreateOp{"/a/b", "z", {}}, DeleteOp{"/a/b", 0}});
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_EQ(result.results.size(), 5u);
  EXPECT_EQ(result.results[1].stat.version, 1);
  EXPECT_EQ(result.results[2].path, "/a/s-0000000000");
  EXPECT_THAT(*client->store().GetChildren("/a"), ElementsAre("s-0000000000"));
}

TEST_F(ContractTest, AMultiIsAllOrNothingAndNamesTheOperationAtFault) {
  auto client = Open();
  ASSERT_TRUE(client->store().Create("/a", "old").ok());
  const MultiResult result = client->store().Multi(
      {SetOp{"/a", "new"}, CreateOp{"/b", "", {}}, CheckOp{"/a", 7}, DeleteOp{"/a"}});
  EXPECT_TRUE(absl::IsAborted(result.status)) << result.status;
  EXPECT_EQ(result.failed_op, 2);
  EXPECT_TRUE(result.results.empty());
  EXPECT_EQ(client->store().Get("/a")->data, "old");
  EXPECT_EQ(client->store().Get("/a")->stat.version, 0);
  EXPECT_FALSE(client->store().Exists("/b")->has_value());
  EXPECT_TRUE(client->store().Multi({}).status.ok());
}

// C11.
TEST_F(ContractTest, ARecordOverTheLimitIsRefusedBeforeItIsSent) {
  auto client = Open();
  const std::string fits(kRecordBytesMax, 'x');
  const std::string over = fits + "x";
  ASSERT_TRUE(client->store().Create("/fits", fits).ok());
  const absl::Status create = client->store().Create("/over", over).status();
  EXPECT_TRUE(absl::IsResourceExhausted(create)) << create;
  EXPECT_THAT(Message(create), HasSubstr("/over is 524289 bytes, the limit is 524288"));
  EXPECT_TRUE(absl::IsResourceExhausted(client->store().Set("/fits", over).status()));
  EXPECT_EQ(client->store().Get("/fits")->data, fits);
  EXPECT_THAT(client->states().values(), Each(SessionState::kConnected));
}

// C11.
TEST_F(ContractTest, AMultiOverTheLimitIsRefusedAsAWhole) {
  auto client = Open();
  const std::string half(kRecordBytesMax / 2, 'x');
  const MultiResult result =
      client->store().Multi({CreateOp{"/a", half, {}}, CreateOp{"/b", half, {}}});
  EXPECT_TRUE(absl::IsResourceExhausted(result.status)) << result.status;
  EXPECT_FALSE(client->store().Exists("/a")->has_value());
  EXPECT_THAT(client->states().values(), Each(SessionState::kConnected));
}

TEST_F(ContractTest, WithoutAConnectionNothingIsDone) {
  auto client = Open();
  auto other = Open();
  client->Disconnect();
  EXPECT_TRUE(absl::IsUnavailable(client->store().Create("/a", "").status()));
  EXPECT_TRUE(absl::IsUnavailable(client->store().Get("/").status()));
  EXPECT_TRUE(absl::IsUnavailable(client->store().Exists("/").status()));
  EXPECT_TRUE(absl::IsUnavailable(client->store().Multi({CreateOp{"/a", "", {}}}).status));
  client->Reconnect();
  EXPECT_FALSE(other->store().Exists("/a")->has_value());
  EXPECT_TRUE(client->store().Create("/a", "").ok());
}

TEST_F(ContractTest, ALostAnswerLeavesTheOutcomeUnknown) {
  auto client = Open();
  auto other = Open();
  Recorder<absl::StatusCode> answers;
  Recorder<bool> created;
  OnLoop([&] {
    other->coordination()->Exists(
        "/a", [](const auto&) {}, [&](coordination::WatchEvent) { created.Add(true); });
  });
  ASSERT_TRUE(other->store().Get("/").ok());  // answered after the watch is set
  client->faults().LoseNextAnswer();
  OnLoop([&] {
    client->coordination()->Create("/a", "", {}, [&](const absl::StatusOr<std::string>& answer) {
      answers.Add(answer.status().code());
    });
  });
  ASSERT_TRUE(created.AwaitLast(true));
  client->Disconnect();
  EXPECT_TRUE(answers.AwaitLast(absl::StatusCode::kDeadlineExceeded));
  client->Reconnect();
  EXPECT_TRUE(absl::IsAlreadyExists(client->store().Create("/a", "").status()));
}

TEST_F(ContractTest, AnExpiredSessionIsToldOnceAndLast) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(client->store().Create("/e", "", kEphemeral).ok());
  client->faults().Expire();
  ASSERT_TRUE(client->states().AwaitLast(SessionState::kExpired));
  EXPECT_FALSE(other->store().Exists("/e")->has_value());
  EXPECT_TRUE(absl::IsUnavailable(client->store().Create("/e", "").status()));
  EXPECT_TRUE(absl::IsUnavailable(client->store().AwaitConnected()));
  const auto states = client->states().values();
  EXPECT_EQ(std::count(states.begin(), states.end(), SessionState::kExpired), 1);
}

TEST_F(ContractTest, ASessionThatExpiredWhileDisconnectedIsToldOnReconnect) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(client->store().Create("/e", "", kEphemeral).ok());
  client->Disconnect();
  client->faults().Expire();
  EXPECT_FALSE(other->store().Exists("/e")->has_value());
  client->faults().Reconnect();
  EXPECT_TRUE(client->states().AwaitLast(SessionState::kExpired));
}

TEST_F(ContractTest, CallbacksNeverRunInsideACallNorAfterTheEnd) {
  auto client = Open();
  bool called = false;  // outlives the callbacks, which run after the call
  OnLoop([&] {
    client->coordination()->Get("/", [&](const auto&) { called = true; });
    client->coordination()->Get("bad path", [&](const auto&) { called = true; });
    EXPECT_FALSE(called);
  });
  Recorder<bool> late;
  OnLoop([&] {
    for (int i = 0; i < 100; ++i) {
      client->coordination()->Get("/", [&](const auto&) { late.Add(true); });
    }
  });
  client->Close();
  const size_t before = late.values().size();
  OnLoop([] {});
  EXPECT_EQ(late.values().size(), before);
}

}  // namespace
}  // namespace houtu::testing
