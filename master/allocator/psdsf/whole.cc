#include "master/allocator/psdsf/whole.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "master/allocator/psdsf/whole_keys.h"
#include "master/allocator/psdsf/whole_room.h"

namespace houtu::psdsf {
namespace {

/// A user by its key; the smallest is served first.
using Ranked = std::pair<double, int>;

class WholeFilling {
 public:
  WholeFilling(const WholeInstance& instance, WholePolicy policy, uint64_t seed, WholeRoom* room)
      : instance_(instance),
        policy_(policy),
        keys_(instance, policy, *room),
        random_(seed),
        room_(*room) {}

  void ByServers();
  void ByUsers();

 private:
  std::vector<Ranked> QueueOf(int server) const;
  bool GrantOne(int server, std::vector<Ranked>* queue);
  bool GrantByScan(int server, std::vector<Ranked>* queue);
  bool GrantByHeap(int server, std::vector<Ranked>* queue);
  std::optional<int> BestFit(int user) const;

  const WholeInstance& instance_;
  WholePolicy policy_;
  WholeKeys keys_;
  std::mt19937_64 random_;
  WholeRoom& room_;
};

/// Each round every server that has room for someone grants one task, in a new random order.
void WholeFilling::ByServers() {
  std::vector<std::vector<Ranked>> queues;
  std::vector<int> open(instance_.servers.size());
  std::iota(open.begin(), open.end(), 0);
  for (const int server : open) {
    queues.push_back(QueueOf(server));
  }
  while (!open.empty()) {
    for (size_t k = open.size(); k > 1; --k) {
      std::swap(open[k - 1], open[random_() % k]);  // std::shuffle differs between libraries
    }
    std::erase_if(open, [&](int server) { return !GrantOne(server, &queues[server]); });
  }
}

std::vector<Ranked> WholeFilling::QueueOf(int server) const {
  std::vector<Ranked> queue;
  for (int n = 0; n < instance_.user_count(); ++n) {
    if (room_.Fits(n, server)) {
      queue.emplace_back(keys_.Key(n, server), n);
    }
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());
  return queue;
}

bool WholeFilling::GrantOne(int server, std::vector<Ranked>* queue) {
  return policy_ == WholePolicy::kResidualPsdsf ? GrantByScan(server, queue)
                                                : GrantByHeap(server, queue);
}

/// Every key there changes by each grant.
bool WholeFilling::GrantByScan(int server, std::vector<Ranked>* queue) {
  std::erase_if(*queue, [&](const Ranked& ranked) { return !room_.Fits(ranked.second, server); });
  if (queue->empty()) {
    return false;
  }
  for (Ranked& ranked : *queue) {
    ranked.first = keys_.Key(ranked.second, server);
  }
  room_.Place(std::min_element(queue->begin(), queue->end())->second, server);
  return true;
}

/// Keys only grow, by grants here and elsewhere: one that is out of date is corrected when it
/// comes to the front. Room only shrinks: who does not fit is dropped.
bool WholeFilling::GrantByHeap(int server, std::vector<Ranked>* queue) {
  while (!queue->empty()) {
    std::pop_heap(queue->begin(), queue->end(), std::greater<>());
    Ranked& last = queue->back();
    if (!room_.Fits(last.second, server)) {
      queue->pop_back();
      continue;
    }
    const double key = keys_.Key(last.second, server);
    const bool current = key == last.first;
    if (current) {
      room_.Place(last.second, server);
    }
    last.first = current ? keys_.Key(last.second, server) : key;
    std::push_heap(queue->begin(), queue->end(), std::greater<>());
    if (current) {
      return true;
    }
  }
  return false;
}

/// The user with the smallest key chooses a server, until nobody finds one.
void WholeFilling::ByUsers() {
  std::set<Ranked> queue;
  for (int n = 0; n < instance_.user_count(); ++n) {
    if (BestFit(n).has_value()) {
      queue.emplace(keys_.Key(n, 0), n);
    }
  }
  while (!queue.empty()) {
    const int user = queue.extract(queue.begin()).value().second;
    if (const std::optional<int> server = BestFit(user)) {
      room_.Place(user, *server);
      queue.emplace(keys_.Key(user, 0), user);
    }
  }
}

std::optional<int> WholeFilling::BestFit(int user) const {
  std::optional<int> best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < instance_.server_count(); ++i) {
    if (!room_.Fits(user, i)) {
      continue;
    }
    const double misfit = keys_.Misfit(user, i);
    if (!best.has_value() || misfit < least) {
      best = i;
      least = misfit;
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<WholeAllocation> AllocateWhole(const WholeInstance& instance, WholePolicy policy,
                                              uint64_t seed, const WholeAllocation& running) {
  HOUTU_RETURN_IF_ERROR(Validate(instance));
  WholeRoom room(instance);
  HOUTU_RETURN_IF_ERROR(room.Occupy(running));
  WholeFilling filling(instance, policy, seed, &room);
  if (policy == WholePolicy::kBestFitDrf) {
    filling.ByUsers();
  } else {
    filling.ByServers();
  }
  return room.allocation();
}

absl::StatusOr<WholeAllocation> AllocateWhole(const WholeInstance& instance, WholePolicy policy,
                                              uint64_t seed) {
  return AllocateWhole(instance, policy, seed,
                       WholeAllocation(instance.user_count(), instance.server_count()));
}

}  // namespace houtu::psdsf
