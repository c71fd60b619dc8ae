// WholeRoom: what is left of each server while whole tasks are placed. Amounts never fall below 0.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/whole.h"

namespace houtu::psdsf {

class WholeRoom {
 public:
  /// The instance must outlive this.
  explicit WholeRoom(const WholeInstance& instance);

  /// Takes note of tasks that run already. INVALID_ARGUMENT: they are not of the instance's shape
  /// or exceed a capacity, or some run where they may not.
  absl::Status Occupy(const WholeAllocation& running);

  /// Whether one more task of the user may be placed on the server.
  bool Fits(int user, int server) const;

  /// Precondition: Fits.
  void Place(int user, int server);

  /// x[n].
  int64_t tasks(int user) const { return totals_[user]; }
  const std::vector<int64_t>& free(int server) const { return free_[server]; }
  const WholeAllocation& allocation() const { return allocation_; }

 private:
  absl::Status OccupyOne(int user, int server, int64_t tasks);

  const WholeInstance& instance_;
  std::vector<std::vector<int64_t>> free_;
  std::vector<int64_t> totals_;
  WholeAllocation allocation_;
};

}  // namespace houtu::psdsf
