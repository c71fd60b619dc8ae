// The contract of elections: one leader, rising terms, fencing, blinks (C12, C13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/coordination/election.h"
#include "tests/common/coordination/contract_fixture.h"

namespace houtu::testing {
namespace {

using coordination::CheckOp;
using coordination::CreateOp;
using coordination::Election;
using coordination::Leader;
using coordination::LeaderWatch;
using ::testing::ElementsAre;

constexpr char kPath[] = "/dc/dc1";

// A candidate of a session, with what it was told: "elected 1", "suspended", "resumed 1",
// "lost UNAVAILABLE".
class Standing {
 public:
  Standing(EventLoop* loop, Client* client, const std::string& name) : loop_(loop) {
    RunOn(loop_, [&] {
      election_ = std::make_unique<Election>(
          client->coordination(),
          Election::Options{.path = kPath, .candidate = name + "\n", .id = name},
          Election::Callbacks{
              .on_elected = [this](int64_t term) { told_.Add(fmt::format("elected {}", term)); },
              .on_suspended = [this] { told_.Add("suspended"); },
              .on_resumed = [this](int64_t term) { told_.Add(fmt::format("resumed {}", term)); },
              .on_lost =
                  [this](const absl::Status& reason) {
                    told_.Add("lost " + absl::StatusCodeToString(reason.code()));
                  }});
    });
  }
  ~Standing() { End(); }

  void End() {
    RunOn(loop_, [this] { election_.reset(); });
  }
  CheckOp TermCheck() {
    CheckOp check;
    RunOn(loop_, [&] { check = election_->TermCheck(); });
    return check;
  }
  bool leading() {
    bool leading = false;
    RunOn(loop_, [&] { leading = election_->leading(); });
    return leading;
  }
  const Recorder<std::string>& told() const { return told_; }

 private:
  EventLoop* const loop_;
  Recorder<std::string> told_;
  std::unique_ptr<Election> election_;
};

size_t Candidates(const Client& client) {
  const auto names = client.store().GetChildren(std::string(kPath) + "/election");
  return names.ok() ? names->size() : 0;
}

bool AwaitCandidates(EventLoop* loop, Client* client, size_t count) {
  Recorder<size_t> counts;
  std::unique_ptr<coordination::ChildrenWatch> watch;
  RunOn(loop, [&] {
    watch = std::make_unique<coordination::ChildrenWatch>(
        client->coordination(), std::string(kPath) + "/election",
        [&](const std::vector<std::string>& names) { counts.Add(names.size()); });
  });
  const bool reached = counts.AwaitLast(count);
  RunOn(loop, [&] { watch.reset(); });
  return reached;
}

TEST_F(ContractTest, OneCandidateLeadsAndTheOthersStandBy) {
  auto a = Open(), b = Open(), c = Open();
  Standing first(&loop_, a.get(), "z");  // ids have no order: the first to come leads
  ASSERT_TRUE(first.told().AwaitLast("elected 1"));
  Standing second(&loop_, b.get(), "y");
  Standing third(&loop_, c.get(), "x");
  ASSERT_TRUE(AwaitCandidates(&loop_, a.get(), 3));
  EXPECT_TRUE(first.leading());
  EXPECT_FALSE(second.leading());
  EXPECT_THAT(second.told().values(), ElementsAre());
  EXPECT_THAT(third.told().values(), ElementsAre());
}

TEST_F(ContractTest, TermsRiseWithEachLeader) {
  auto a = Open(), b = Open(), c = Open();
  Standing first(&loop_, a.get(), "a");
  ASSERT_TRUE(first.told().AwaitLast("elected 1"));
  Standing second(&loop_, b.get(), "b");
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  Standing third(&loop_, c.get(), "c");
  ASSERT_TRUE(AwaitCandidates(&loop_, c.get(), 3));
  first.End();  // withdraws: its session lives on
  ASSERT_TRUE(second.told().AwaitLast("elected 2"));
  b->faults().Expire();
  ASSERT_TRUE(third.told().AwaitLast("elected 3"));
  ASSERT_TRUE(second.told().AwaitLast("lost UNAVAILABLE"));
  Standing again(&loop_, a.get(), "a2");
  third.End();
  EXPECT_TRUE(again.told().AwaitLast("elected 4"));
}

TEST_F(ContractTest, AStandbyThatEndsLeavesTheOrderWhole) {
  auto a = Open(), b = Open(), c = Open();
  Standing first(&loop_, a.get(), "a");
  ASSERT_TRUE(first.told().AwaitLast("elected 1"));
  Standing second(&loop_, b.get(), "b");
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  Standing third(&loop_, c.get(), "c");
  ASSERT_TRUE(AwaitCandidates(&loop_, c.get(), 3));
  second.End();
  ASSERT_TRUE(AwaitCandidates(&loop_, c.get(), 2));
  EXPECT_THAT(third.told().values(), ElementsAre());
  first.End();
  EXPECT_TRUE(third.told().AwaitLast("elected 2"));
}

// C12: the leader slept beyond its session; a newer one leads; nothing that the old one writes
// is done.
TEST_F(ContractTest, ALeaderThatSleptIsFencedAndLoses) {
  auto sleeper = Open(), standby = Open();
  Standing old_leader(&loop_, sleeper.get(), "old");
  ASSERT_TRUE(old_leader.told().AwaitLast("elected 1"));
  const CheckOp stale = old_leader.TermCheck();
  Standing new_leader(&loop_, standby.get(), "new");
  ASSERT_TRUE(AwaitCandidates(&loop_, standby.get(), 2));
  sleeper->Disconnect();
  sleeper->faults().Expire();
  ASSERT_TRUE(new_leader.told().AwaitLast("elected 2"));
  EXPECT_FALSE(old_leader.leading());
  const auto fenced = standby->store().Multi({stale, CreateOp{"/lease", "", {}}});
  EXPECT_TRUE(absl::IsAborted(fenced.status)) << fenced.status;
  EXPECT_EQ(fenced.failed_op, 0);
  sleeper->faults().Reconnect();
  ASSERT_TRUE(old_leader.told().AwaitLast("lost UNAVAILABLE"));
  EXPECT_THAT(old_leader.told().values(),
              ElementsAre("elected 1", "suspended", "lost UNAVAILABLE"));
  EXPECT_TRUE(
      standby->store().Multi({new_leader.TermCheck(), CreateOp{"/lease", "", {}}}).status.ok());
}

// C13.
TEST_F(ContractTest, ABlinkKeepsTheLeaderAndItsTerm) {
  auto a = Open(), b = Open();
  Standing leader(&loop_, a.get(), "a");
  ASSERT_TRUE(leader.told().AwaitLast("elected 1"));
  Standing standby(&loop_, b.get(), "b");
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  for (int i = 0; i < 2; ++i) {
    a->Disconnect();
    b->Disconnect();
    EXPECT_FALSE(leader.leading());
    b->Reconnect();
    a->Reconnect();
    ASSERT_TRUE(leader.told().AwaitLast("resumed 1"));
    EXPECT_TRUE(leader.leading());
  }
  EXPECT_THAT(leader.told().values(),
              ElementsAre("elected 1", "suspended", "resumed 1", "suspended", "resumed 1"));
  EXPECT_THAT(standby.told().values(), ElementsAre());
  EXPECT_EQ(Candidates(*b), 2u);
}

TEST_F(ContractTest, ACandidacyWhoseAnswerWasLostIsFoundAgain) {
  auto a = Open(), b = Open();
  Standing first(&loop_, b.get(), "b");
  ASSERT_TRUE(first.told().AwaitLast("elected 1"));
  a->faults().LoseNextAnswer();
  OnLoop([&] {
    // What the candidate "a" below sends first; its answer is lost.
    a->coordination()->Create(std::string(kPath) + "/election/c-a-", "",
                              {.ephemeral = true, .sequential = true}, [](const auto&) {});
  });
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  a->Disconnect();
  Standing second(&loop_, a.get(), "a");
  a->Reconnect();
  first.End();
  ASSERT_TRUE(second.told().AwaitLast("elected 2"));
  EXPECT_EQ(Candidates(*b), 1u);
}

// The multi that takes the term is done, its answer lost: the candidate finds its own record.
TEST_F(ContractTest, ATermWhoseAnswerWasLostIsTakenOnce) {
  auto a = Open(), b = Open();
  const std::string path(kPath);
  ASSERT_TRUE(b->store().EnsurePath(path + "/term").ok());
  ASSERT_TRUE(b->store().EnsurePath(path + "/election").ok());
  const auto node =
      a->store().Create(path + "/election/c-a-", "", {.ephemeral = true, .sequential = true});
  ASSERT_TRUE(node.ok());
  const std::string record = coordination::FormatLeader(
      {.leader = {.candidate = "a\n", .term = 1}, .node = node->substr(path.size() + 10)});
  ASSERT_TRUE(a->store()
                  .Multi({coordination::SetOp{path + "/term", "", 0},
                          CreateOp{path + "/leader", record, {.ephemeral = true}}})
                  .status.ok());
  Standing candidate(&loop_, a.get(), "a");
  ASSERT_TRUE(candidate.told().AwaitLast("elected 1"));
  EXPECT_EQ(b->store().Get(path + "/term")->stat.version, 1);
}

TEST_F(ContractTest, ALeaderTakesOverAlsoBesideARecordThatWasLeftBehind) {
  auto a = Open(), b = Open();
  const std::string path(kPath);
  ASSERT_TRUE(b->store().EnsurePath(path + "/term").ok());
  ASSERT_TRUE(b->store().Create(path + "/leader", "0 c-x-0000000000\n").ok());
  Standing candidate(&loop_, a.get(), "a");
  ASSERT_TRUE(candidate.told().AwaitLast("elected 1"));
  EXPECT_EQ(coordination::ParseLeader(b->store().Get(path + "/leader")->data)->leader.term, 1);
}

TEST_F(ContractTest, ALeaderWhoseNodeWasRemovedLoses) {
  auto a = Open(), b = Open();
  Standing leader(&loop_, a.get(), "a");
  ASSERT_TRUE(leader.told().AwaitLast("elected 1"));
  Standing standby(&loop_, b.get(), "b");
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  const std::string election = std::string(kPath) + "/election";
  const auto names = b->store().GetChildren(election);
  ASSERT_TRUE(names.ok());
  for (const std::string& name : *names) {
    if (!name.starts_with("c-a-")) continue;
    ASSERT_TRUE(b->store().Delete(election + "/" + name).ok());
  }
  EXPECT_TRUE(leader.told().AwaitLast("lost ABORTED"));
  EXPECT_TRUE(standby.told().AwaitLast("elected 2"));
}

TEST_F(ContractTest, FollowersAreToldOfEachLeader) {
  auto a = Open(), b = Open(), follower = Open();
  Recorder<std::optional<Leader>> leaders;
  std::unique_ptr<LeaderWatch> watch;
  OnLoop([&] {
    watch = std::make_unique<LeaderWatch>(
        follower->coordination(), kPath,
        [&](const std::optional<Leader>& leader) { leaders.Add(leader); });
  });
  ASSERT_TRUE(leaders.AwaitLast(std::nullopt));
  Standing first(&loop_, a.get(), "a");
  ASSERT_TRUE(leaders.AwaitLast(Leader{.candidate = "a\n", .term = 1}));
  follower->Disconnect();
  Standing second(&loop_, b.get(), "b");
  ASSERT_TRUE(AwaitCandidates(&loop_, b.get(), 2));
  first.End();
  ASSERT_TRUE(second.told().AwaitLast("elected 2"));
  follower->Reconnect();
  EXPECT_TRUE(leaders.AwaitLast(Leader{.candidate = "b\n", .term = 2}));
  OnLoop([&] { watch.reset(); });
}

TEST(ParseLeaderTest, TakesBackWhatWasFormatted) {
  const coordination::LeaderRecord record{
      .leader = {.candidate = std::string("\n \0x", 4), .term = 12}, .node = "c-1-0000000003"};
  const auto parsed = coordination::ParseLeader(coordination::FormatLeader(record));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->leader, record.leader);
  EXPECT_EQ(parsed->node, record.node);
  for (const char* const bad : {"", "x", "1", "1\n c", "x c\n", "1"}) {
    EXPECT_FALSE(coordination::ParseLeader(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace houtu::testing
