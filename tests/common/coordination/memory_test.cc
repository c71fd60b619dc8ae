// MemoryCoordination in virtual time: a queue stands for the loop, and every run is the same.
#include "common/coordination/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/coordination/election.h"

namespace houtu::coordination {
namespace {

using ::testing::ElementsAre;

// What is posted, run in order by the test.
class Queue {
 public:
  Post post() {
    return [this](std::function<void()> function) { functions_.push_back(std::move(function)); };
  }
  void Drain() {
    while (!functions_.empty()) {
      const auto function = std::move(functions_.front());
      functions_.pop_front();
      function();
    }
  }

 private:
  std::deque<std::function<void()>> functions_;
};

std::unique_ptr<Election> Stand(MemoryCoordination* session, const std::string& name,
                                std::vector<std::string>* told) {
  return std::make_unique<Election>(
      session, Election::Options{.path = "/dc", .candidate = name, .id = name},
      Election::Callbacks{
          .on_elected =
              [=](int64_t term) { told->push_back(name + " elected " + std::to_string(term)); },
          .on_suspended = [=] { told->push_back(name + " suspended"); },
          .on_resumed =
              [=](int64_t term) { told->push_back(name + " resumed " + std::to_string(term)); },
          .on_lost = [=](const absl::Status&) { told->push_back(name + " lost"); }});
}

TEST(MemoryCoordinationTest, AnElectionReadsTheSameInEachRun) {
  for (int run = 0; run < 2; ++run) {
    Queue queue;
    std::vector<std::string> told;
    auto store = std::make_shared<MemoryStore>();
    MemoryCoordination a(store, queue.post()), b(store, queue.post());
    const auto first = Stand(&a, "a", &told);
    const auto second = Stand(&b, "b", &told);
    EXPECT_THAT(told, ElementsAre());
    queue.Drain();
    a.Disconnect();
    queue.Drain();
    a.Reconnect();
    queue.Drain();
    store->ExpireSession(a.session_id());
    queue.Drain();
    EXPECT_THAT(told,
                ElementsAre("a elected 1", "a suspended", "a resumed 1", "a lost", "b elected 2"));
  }
}

// Whichever write's answer is lost on the way, there is one candidate and one term in the end.
TEST(MemoryCoordinationTest, ALostAnswerAtAnyWriteLeavesOneCandidateAndOneTerm) {
  constexpr int kWrites = 6;  // /dc, term, /dc, election, the candidate's node, the term's multi
  for (int lost = 0; lost < kWrites; ++lost) {
    Queue queue;
    std::vector<std::string> told;
    auto store = std::make_shared<MemoryStore>();
    MemoryCoordination session(store, queue.post()), other(store, queue.post());
    queue.Drain();
    session.LoseAnswerOfWrite(lost);
    const auto election = Stand(&session, "a", &told);
    queue.Drain();
    session.Reconnect();
    queue.Drain();
    ASSERT_FALSE(told.empty()) << "lost answer " << lost;
    EXPECT_EQ(told.back(), "a elected 1") << "lost answer " << lost;
    size_t candidates = 0;
    other.GetChildren("/dc/election", [&](const absl::StatusOr<Children>& children) {
      candidates = children->names.size();
    });
    queue.Drain();
    EXPECT_EQ(candidates, 1u) << "lost answer " << lost;
  }
}

}  // namespace
}  // namespace houtu::coordination
