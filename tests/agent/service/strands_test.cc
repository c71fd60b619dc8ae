#include "agent/service/strands.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace houtu::agent {
namespace {

constexpr int kPieces = 20'000;

TEST(StrandsTest, RunsTheWorkOfOneNameInOrder) {
  std::vector<int> order;
  std::latch done(kPieces);
  WorkerPool pool(4);
  Strands strands(&pool);
  for (int i = 0; i < kPieces; ++i) {
    strands.Submit("lease", [&order, &done, i] {
      order.push_back(i);  // no lock: one at a time is the promise
      done.count_down();
    });
  }
  done.wait();
  pool.Stop();  // as strands.h wants: its threads are still on their way out of the last piece
  for (int i = 0; i < kPieces; ++i) {
    ASSERT_EQ(order[i], i);
  }
}

TEST(BoundedQueueTest, RunsEachPieceOnceAndNeverMoreThanItsWidthAtATime) {
  constexpr int kWidth = 2;
  constexpr int kSubmitters = 3;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::latch done(kSubmitters * kPieces);
  WorkerPool pool(4);
  BoundedQueue queue(&pool, kWidth);
  std::vector<std::jthread> submitters;
  for (int i = 0; i < kSubmitters; ++i) {
    submitters.emplace_back([&] {
      for (int piece = 0; piece < kPieces; ++piece) {
        queue.Submit([&] {
          const int now = ++running;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          --running;
          done.count_down();
        });
      }
    });
  }
  done.wait();
  pool.Stop();  // as strands.h wants: its threads are still on their way out of the last piece
  EXPECT_LE(most, kWidth);
}

}  // namespace
}  // namespace houtu::agent
