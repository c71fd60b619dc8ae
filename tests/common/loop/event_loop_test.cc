#include "common/loop/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace houtu {
namespace {

using ::testing::ElementsAre;

/// Waits until the loop has run all that was posted so far.
void Flush(EventLoop* loop) {
  std::promise<void> done;
  loop->Post([&done] { done.set_value(); });
  done.get_future().wait();
}

TEST(EventLoopTest, WhatManyThreadsPostRunsOnItsThreadEachThreadsInItsOrder) {
  constexpr int kThreads = 4;
  constexpr int kPosts = 10'000;
  EventLoop loop;
  std::vector<int> seen[kThreads];
  bool on_thread = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) {
        loop.Post([&, t, i] {
          on_thread = on_thread && loop.OnLoopThread();
          seen[t].push_back(i);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Flush(&loop);
  EXPECT_TRUE(on_thread);
  EXPECT_FALSE(loop.OnLoopThread());
  for (const std::vector<int>& one : seen) {
    ASSERT_EQ(one.size(), size_t{kPosts});
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
  }
}

TEST(EventLoopTest, TimersRunInTheOrderOfTheirTimes) {
  EventLoop loop;
  std::vector<int> order;
  std::promise<void> done;
  loop.Post([&] {
    loop.PostAfter(absl::Milliseconds(20), [&] {
      order.push_back(3);
      done.set_value();
    });
    loop.PostAfter(absl::Milliseconds(10), [&] { order.push_back(2); });
    loop.PostAfter(absl::Milliseconds(-5), [&] { order.push_back(1); });
  });
  done.get_future().wait();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(EventLoopTest, ATimerNeverRunsTooEarly) {
  EventLoop loop;
  std::promise<std::chrono::steady_clock::time_point> ran;
  const auto start = std::chrono::steady_clock::now();
  loop.PostAfter(absl::Milliseconds(15), [&] { ran.set_value(std::chrono::steady_clock::now()); });
  EXPECT_GE(ran.get_future().get() - start, std::chrono::milliseconds(15));
}

TEST(EventLoopTest, ATimerThatIsCancelledOnTheLoopDoesNotRunAlsoWhenBothAreDue) {
  EventLoop loop;
  std::promise<void> done;
  bool second_ran = false;
  loop.Post([&] {
    // Both are due in one batch: the first cancels the second.
    auto second = std::make_shared<EventLoop::TimerId>();
    loop.PostAfter(absl::ZeroDuration(), [&loop, second] { loop.Cancel(*second); });
    *second = loop.PostAfter(absl::ZeroDuration(), [&] { second_ran = true; });
    loop.PostAfter(absl::ZeroDuration(), [&] { done.set_value(); });
  });
  done.get_future().wait();
  EXPECT_FALSE(second_ran);
}

TEST(EventLoopTest, CancellingWhatRanOrNeverWasDoesNothing) {
  EventLoop loop;
  std::promise<void> ran;
  const EventLoop::TimerId timer = loop.PostAfter(absl::ZeroDuration(), [&] { ran.set_value(); });
  ran.get_future().wait();
  loop.Cancel(timer);
  loop.Cancel(123456);
  Flush(&loop);
}

TEST(EventLoopTest, TheBatchFunctionRunsAfterWhatWasPosted) {
  EventLoop loop;
  std::atomic<int> posted = 0;
  std::atomic<int> seen = 0;
  loop.SetAfterBatch([&] { seen = posted.load(); });
  std::promise<void> done;
  loop.Post([&] { ++posted; });
  loop.Post([&] { ++posted; });
  Flush(&loop);
  Flush(&loop);  // the batch of the first Flush is over by now
  EXPECT_EQ(seen, 2);
}

TEST(EventLoopTest, StopDropsWhatWaitsAndWhatComesLater) {
  auto owned = std::make_shared<int>(1);
  EventLoop loop;
  std::promise<void> running;
  std::promise<void> go_on;
  bool later_ran = false;
  loop.Post([&] {
    running.set_value();
    go_on.get_future().wait();
  });
  running.get_future().wait();
  loop.Post([&, owned] { later_ran = true; });
  loop.PostAfter(absl::Hours(1), [owned] {});
  std::thread stopper([&] { loop.Stop(); });
  go_on.set_value();
  stopper.join();
  loop.Post([owned] {});
  loop.PostAfter(absl::ZeroDuration(), [owned] {});
  EXPECT_EQ(owned.use_count(), 1) << "what it kept is destroyed";
  loop.Stop();
}

TEST(EventLoopTest, WhatIsDroppedMayPostInItsDestructor) {
  struct Poster {
    EventLoop* loop;
    ~Poster() {
      loop->Post([] {});
    }
  };
  EventLoop loop;
  loop.PostAfter(absl::Hours(1), [p = std::make_shared<Poster>(&loop)] {});
  loop.Stop();
}

}  // namespace
}  // namespace houtu
