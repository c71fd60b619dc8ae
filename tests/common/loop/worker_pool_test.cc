#include "common/loop/worker_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>
#include <memory>

namespace houtu {
namespace {

TEST(WorkerPoolTest, AsMuchRunsAtOnceAsThereAreThreads) {
  constexpr int kThreads = 3;
  std::barrier all_run(kThreads + 1);
  WorkerPool pool(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    pool.Submit([&] { all_run.arrive_and_wait(); });
  }
  all_run.arrive_and_wait();  // returns only if all three run at the same time
}

TEST(WorkerPoolTest, WorkIsTakenInTheOrderSubmitted) {
  WorkerPool pool(1);
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) {
    pool.Submit([&, i] { order.push_back(i); });
  }
  pool.Submit([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(WorkerPoolTest, StopFinishesWhatRunsAndDropsWhatWaits) {
  auto owned = std::make_shared<int>(1);
  WorkerPool pool(1);
  std::promise<void> running;
  std::promise<void> go_on;
  std::atomic<bool> finished = false;
  std::atomic<bool> later_ran = false;
  pool.Submit([&] {
    running.set_value();
    go_on.get_future().wait();
    finished = true;
  });
  running.get_future().wait();
  std::thread stopper([&] { pool.Stop(); });
  pool.Submit([&, owned] { later_ran = later_ran || owned == nullptr; });
  go_on.set_value();
  stopper.join();
  EXPECT_TRUE(finished);
  pool.Submit([owned] {});
  EXPECT_EQ(owned.use_count(), 1);
  pool.Stop();
}

}  // namespace
}  // namespace houtu
