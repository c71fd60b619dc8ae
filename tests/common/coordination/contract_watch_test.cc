// The contract of watches: one-shot, and lasting over lost connections (C13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/coordination/watch.h"
#include "tests/common/coordination/contract_fixture.h"

namespace houtu::testing {
namespace {

using coordination::ChildrenWatch;
using coordination::DataWatch;
using coordination::Node;
using coordination::WatchEvent;
using ::testing::ElementsAre;

using Names = std::vector<std::string>;

constexpr char kAbsent[] = "(absent)";

std::string TextOf(const std::optional<Node>& node) { return node ? node->data : kAbsent; }

TEST_F(ContractTest, AOneShotWatchIsCalledOnce) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(other->store().EnsurePath("/a").ok());
  Recorder<WatchEvent> events;
  OnLoop([&] {
    client->coordination()->Get(
        "/a", [](const auto&) {}, [&](WatchEvent event) { events.Add(event); });
  });
  ASSERT_TRUE(client->store().Get("/a").ok());  // answered after the watch is set
  ASSERT_TRUE(other->store().Set("/a", "1").ok());
  ASSERT_TRUE(events.AwaitLast(WatchEvent::kChanged));
  ASSERT_TRUE(other->store().Set("/a", "2").ok());
  ASSERT_TRUE(client->store().Get("/a").ok());
  EXPECT_THAT(events.values(), ElementsAre(WatchEvent::kChanged));
}

TEST_F(ContractTest, AOneShotWatchTellsAfterTheReconnectWhatChangedMeanwhile) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(other->store().EnsurePath("/changed").ok());
  ASSERT_TRUE(other->store().EnsurePath("/gone").ok());
  ASSERT_TRUE(other->store().EnsurePath("/parent").ok());
  Recorder<WatchEvent> changed, gone, children, came;
  OnLoop([&] {
    auto* const c = client->coordination();
    c->Get("/changed", [](const auto&) {}, [&](WatchEvent event) { changed.Add(event); });
    c->Get("/gone", [](const auto&) {}, [&](WatchEvent event) { gone.Add(event); });
    c->GetChildren("/parent", [](const auto&) {}, [&](WatchEvent event) { children.Add(event); });
    c->Exists("/came", [](const auto&) {}, [&](WatchEvent event) { came.Add(event); });
  });
  ASSERT_TRUE(client->store().Get("/").ok());
  client->Disconnect();
  ASSERT_TRUE(other->store().Set("/changed", "x").ok());
  ASSERT_TRUE(other->store().Delete("/gone").ok());
  ASSERT_TRUE(other->store().EnsurePath("/parent/child").ok());
  ASSERT_TRUE(other->store().EnsurePath("/came").ok());
  client->Reconnect();
  EXPECT_TRUE(changed.AwaitLast(WatchEvent::kChanged));
  EXPECT_TRUE(gone.AwaitLast(WatchEvent::kDeleted));
  EXPECT_TRUE(children.AwaitLast(WatchEvent::kChildren));
  EXPECT_TRUE(came.AwaitLast(WatchEvent::kCreated));
}

// A lasting watch on the client's loop, with what it told.
template <typename WatchType, typename Value>
class Watched {
 public:
  template <typename Convert>
  Watched(EventLoop* loop, Client* client, const std::string& path, Convert convert) : loop_(loop) {
    RunOn(loop_, [&] {
      watch_ = std::make_unique<WatchType>(
          client->coordination(), path,
          [this, convert](const auto& value) { told_.Add(convert(value)); });
    });
  }
  ~Watched() {
    RunOn(loop_, [this] { watch_.reset(); });
  }

  const Recorder<Value>& told() const { return told_; }

 private:
  EventLoop* const loop_;
  Recorder<Value> told_;
  std::unique_ptr<WatchType> watch_;
};

TEST_F(ContractTest, ADataWatchTellsEachStateFromAbsentToGone) {
  auto client = Open();
  auto other = Open();
  Watched<DataWatch, std::string> watch(&loop_, client.get(), "/a", TextOf);
  ASSERT_TRUE(watch.told().AwaitLast(kAbsent));
  ASSERT_TRUE(other->store().Create("/a", "1").ok());
  ASSERT_TRUE(watch.told().AwaitLast("1"));
  ASSERT_TRUE(other->store().Set("/a", "2").ok());
  ASSERT_TRUE(watch.told().AwaitLast("2"));
  ASSERT_TRUE(other->store().Delete("/a").ok());
  ASSERT_TRUE(watch.told().AwaitLast(kAbsent));
  EXPECT_THAT(watch.told().values(), ElementsAre(kAbsent, "1", "2", kAbsent));
}

TEST_F(ContractTest, ADataWatchNeverMissesTheLastState) {
  constexpr int kWrites = 200;
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(other->store().Create("/a", "").ok());
  Watched<DataWatch, std::string> watch(&loop_, client.get(), "/a", TextOf);
  for (int i = 1; i <= kWrites; ++i) {
    ASSERT_TRUE(other->store().Set("/a", std::to_string(i)).ok());
  }
  EXPECT_TRUE(watch.told().AwaitLast(std::to_string(kWrites)));
}

// C13: what changed in the gap is told, and the watch goes on, blink after blink.
TEST_F(ContractTest, ADataWatchOutlivesLostConnections) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(other->store().Create("/a", "0").ok());
  Watched<DataWatch, std::string> watch(&loop_, client.get(), "/a", TextOf);
  ASSERT_TRUE(watch.told().AwaitLast("0"));
  for (int i = 1; i <= 3; ++i) {
    client->Disconnect();
    ASSERT_TRUE(other->store().Set("/a", fmt::format("gap {}", i)).ok());
    client->Reconnect();
    ASSERT_TRUE(watch.told().AwaitLast(fmt::format("gap {}", i)));
    ASSERT_TRUE(other->store().Set("/a", fmt::format("after {}", i)).ok());
    ASSERT_TRUE(watch.told().AwaitLast(fmt::format("after {}", i)));
  }
}

TEST_F(ContractTest, ADataWatchBegunWithoutAConnectionTellsOnceThereIsOne) {
  auto client = Open();
  auto other = Open();
  ASSERT_TRUE(other->store().Create("/a", "x").ok());
  client->Disconnect();
  Watched<DataWatch, std::string> watch(&loop_, client.get(), "/a", TextOf);
  client->Reconnect();
  EXPECT_TRUE(watch.told().AwaitLast("x"));
}

TEST_F(ContractTest, AChildrenWatchFollowsItsNodeThroughComingAndGoing) {
  auto client = Open();
  auto other = Open();
  const auto same = [](const Names& names) { return names; };
  Watched<ChildrenWatch, Names> watch(&loop_, client.get(), "/p", same);
  ASSERT_TRUE(watch.told().AwaitLast({}));
  ASSERT_TRUE(other->store().EnsurePath("/p/b").ok());
  ASSERT_TRUE(watch.told().AwaitLast({"b"}));
  client->Disconnect();
  ASSERT_TRUE(other->store().EnsurePath("/p/a").ok());
  client->Reconnect();
  ASSERT_TRUE(watch.told().AwaitLast({"a", "b"}));
  ASSERT_TRUE(other->store()
                  .Multi({coordination::DeleteOp{"/p/a"}, coordination::DeleteOp{"/p/b"},
                          coordination::DeleteOp{"/p"}})
                  .status.ok());
  ASSERT_TRUE(watch.told().AwaitLast({}));
  ASSERT_TRUE(other->store().EnsurePath("/p/c").ok());
  EXPECT_TRUE(watch.told().AwaitLast({"c"}));
}

TEST_F(ContractTest, ACallbackMayEndItsWatch) {
  auto client = Open();
  Recorder<std::string> told;
  std::unique_ptr<DataWatch> watch;
  OnLoop([&] {
    watch = std::make_unique<DataWatch>(client->coordination(), "/a",
                                        [&](const std::optional<Node>& node) {
                                          watch.reset();
                                          told.Add(TextOf(node));
                                        });
  });
  ASSERT_TRUE(told.AwaitLast(kAbsent));
  ASSERT_TRUE(client->store().Create("/a", "x").ok());
  ASSERT_TRUE(client->store().Get("/a").ok());
  EXPECT_THAT(told.values(), ElementsAre(kAbsent));
}

}  // namespace
}  // namespace houtu::testing
