// ServerFill: the exact server procedure of PS-DSF. All tasks on one server are discarded and the
// server is filled again by progressive filling: each user starts at the level that it has by its
// tasks elsewhere; all users at the lowest level rise together, dx = slope dL; when a kind of
// resource runs out, everyone who needs it stops, started or not; a user stops at its cap too.
// Each user that stops without its cap then has, by Theorem 1, a bottleneck here: a resource that
// it needs, that is used up, and of which no one holds some who stands at a higher level.
//
// Resource division and time division are the same procedure: the latter knows one resource, the
// server's time, of which there is 1 and a task of n takes 1/gamma[n,i].
//
// Cost: O(N log N + N R (1 + R + caps reached)). Keeps its memory from call to call. One thread.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace houtu::psdsf {

/// A user as one server sees it. Levels are x[n]/(phi[n] gamma[n,i]).
struct Claim {
  /// Tasks per level: phi[n] gamma[n,i] > 0.
  double slope = 0;
  /// The level by its tasks on other servers.
  double start = 0;
  /// The level at its cap; infinity: none.
  double stop = 0;
  /// What a task takes of each resource of the server.
  const double* uses = nullptr;
};

class ServerFill {
 public:
  /// tasks[k] becomes what claims[k] gets. Preconditions: equal lengths; each claim uses some
  /// resource. Equal claims get equally much, whatever their order.
  void Run(std::span<const double> capacity, std::span<const Claim> claims,
           std::span<double> tasks);

 private:
  void Prepare();
  double NextFull(int* resource) const;
  void RiseTo(double level);
  void Join(int claim);
  void Stop(int claim);
  void StopWhoNeed(int resource);
  void AddRates(int claim);
  void RecountRates();
  bool NeedsFull(int claim) const;

  struct ResourceState {
    double free = 0;
    /// Taken per level by those that rise now.
    double rate = 0;
    int risers = 0;
    bool full = false;
  };

  std::span<const Claim> claims_;
  std::span<double> tasks_;
  double level_ = 0;
  std::vector<ResourceState> resources_;
  std::vector<std::pair<double, int>> starts_;
  std::vector<std::pair<double, int>> stops_;
  std::vector<int> rising_;
  std::vector<char> is_rising_;
};

}  // namespace houtu::psdsf
