// Allocation: how many tasks each user runs on each server. Plain value; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace houtu::psdsf {

/// x[n,i], dense; rows are servers, since procedures work on one server at a time.
template <typename Amount>
class BasicAllocation {
 public:
  BasicAllocation() = default;
  BasicAllocation(int users, int servers)
      : users_(users), servers_(servers), tasks_(static_cast<size_t>(users) * servers, 0) {}

  int users() const { return users_; }
  int servers() const { return servers_; }

  Amount& At(int user, int server) { return tasks_[Index(user, server)]; }
  Amount At(int user, int server) const { return tasks_[Index(user, server)]; }

  /// The tasks of each user on that server.
  std::span<Amount> OnServer(int server) { return {tasks_.data() + Index(0, server), Count()}; }
  std::span<const Amount> OnServer(int server) const {
    return {tasks_.data() + Index(0, server), Count()};
  }

  /// x[n] of every user.
  std::vector<Amount> Totals() const {
    std::vector<Amount> totals(users_, 0);
    for (int i = 0; i < servers_; ++i) {
      for (int n = 0; n < users_; ++n) {
        totals[n] += At(n, i);
      }
    }
    return totals;
  }

  bool operator==(const BasicAllocation&) const = default;

 private:
  size_t Count() const { return static_cast<size_t>(users_); }
  size_t Index(int user, int server) const { return static_cast<size_t>(server) * users_ + user; }

  int users_ = 0;
  int servers_ = 0;
  std::vector<Amount> tasks_;
};

using Allocation = BasicAllocation<double>;

}  // namespace houtu::psdsf
