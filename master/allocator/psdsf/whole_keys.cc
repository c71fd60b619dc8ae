#include "master/allocator/psdsf/whole_keys.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace houtu::psdsf {
namespace {

/// The largest part that a task takes of any resource. Infinite: it needs what is not there.
double DominantShare(const std::vector<double>& total, const std::vector<int64_t>& demand) {
  double share = 0;
  for (size_t r = 0; r < demand.size(); ++r) {
    share = demand[r] > 0 ? std::max(share, static_cast<double>(demand[r]) / total[r]) : share;
  }
  return share;
}

}  // namespace

WholeKeys::WholeKeys(const WholeInstance& instance, WholePolicy policy, const WholeRoom& room)
    : instance_(instance), policy_(policy), room_(room), total_(TotalCapacity(instance)) {
  for (const WholeUser& user : instance.users) {
    double tasks = 0;
    for (const WholeServer& server : instance.servers) {
      tasks += TasksThatFill(server.capacity, user.demand);
    }
    global_key_.push_back(
        (policy == WholePolicy::kTsf ? 1 / tasks : DominantShare(total_, user.demand)) /
        user.weight);
  }
}

double WholeKeys::Key(int user, int server) const {
  const double tasks = static_cast<double>(room_.tasks(user));
  const WholeUser& of = instance_.users[user];
  if (policy_ == WholePolicy::kPsdsf) {
    return tasks / (of.weight * TasksThatFill(instance_.servers[server].capacity, of.demand));
  }
  if (policy_ == WholePolicy::kResidualPsdsf) {
    return tasks / (of.weight * TasksThatFill(room_.free(server), of.demand));
  }
  return tasks * global_key_[user];
}

double WholeKeys::Misfit(int user, int server) const {
  const std::vector<int64_t>& demand = instance_.users[user].demand;
  const std::vector<int64_t>& free = room_.free(server);
  const auto part = [&](const std::vector<int64_t>& of, size_t r) {
    return total_[r] > 0 ? static_cast<double>(of[r]) / total_[r] : 0;
  };
  size_t dominant = 0;
  for (size_t r = 1; r < demand.size(); ++r) {
    dominant = part(demand, r) > part(demand, dominant) ? r : dominant;
  }
  double misfit = 0;
  for (size_t r = 0; r < demand.size(); ++r) {
    misfit +=
        std::abs(part(free, r) / part(free, dominant) - part(demand, r) / part(demand, dominant));
  }
  return misfit;
}

}  // namespace houtu::psdsf
