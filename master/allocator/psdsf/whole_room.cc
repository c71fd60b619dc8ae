#include "master/allocator/psdsf/whole_room.h"

#include "common/base/check.h"
#include "common/base/status.h"

namespace houtu::psdsf {

WholeRoom::WholeRoom(const WholeInstance& instance)
    : instance_(instance),
      totals_(instance.users.size(), 0),
      allocation_(instance.user_count(), instance.server_count()) {
  for (const WholeServer& server : instance.servers) {
    free_.push_back(server.capacity);
  }
}

absl::Status WholeRoom::Occupy(const WholeAllocation& running) {
  if (running.users() != instance_.user_count() || running.servers() != instance_.server_count()) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "tasks of {} users run on {} servers; there are {} and {}", running.users(),
                 running.servers(), instance_.user_count(), instance_.server_count());
  }
  for (int i = 0; i < instance_.server_count(); ++i) {
    for (int n = 0; n < instance_.user_count(); ++n) {
      HOUTU_RETURN_IF_ERROR(OccupyOne(n, i, running.At(n, i)));
    }
  }
  return absl::OkStatus();
}

absl::Status WholeRoom::OccupyOne(int user, int server, int64_t tasks) {
  const WholeUser& of = instance_.users[user];
  bool fits = tasks == 0 || (tasks > 0 && of.EligibleOn(server));
  for (int r = 0; r < instance_.resources && fits; ++r) {
    // By division: the product may not fit into 64 bits.
    fits = of.demand[r] == 0 || tasks <= free_[server][r] / of.demand[r];
  }
  if (!fits) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} tasks of user {} cannot be what runs on server {}", tasks, user, server);
  }
  for (int r = 0; r < instance_.resources; ++r) {
    free_[server][r] -= of.demand[r] == 0 ? 0 : tasks * of.demand[r];
  }
  totals_[user] += tasks;
  allocation_.At(user, server) += tasks;
  return absl::OkStatus();
}

bool WholeRoom::Fits(int user, int server) const {
  const WholeUser& of = instance_.users[user];
  if (totals_[user] >= of.cap || !of.EligibleOn(server)) {
    return false;
  }
  for (int r = 0; r < instance_.resources; ++r) {
    if (of.demand[r] > free_[server][r]) {
      return false;
    }
  }
  return true;
}

void WholeRoom::Place(int user, int server) {
  HOUTU_CHECK(Fits(user, server), "a task is placed where it fits");
  for (int r = 0; r < instance_.resources; ++r) {
    free_[server][r] -= instance_.users[user].demand[r];
  }
  ++totals_[user];
  ++allocation_.At(user, server);
}

}  // namespace houtu::psdsf
