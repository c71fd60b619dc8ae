// What Per-Server Dominant-Share Fairness (Khamse-Ashari and others) decides about: servers with
// capacities, users with demands per task. Amounts are doubles where tasks may be divided
// (Instance) and integers where they are whole containers (WholeInstance). Plain values; any
// thread.
//
// Notation of the paper, used in comments here: c[i,r] capacity of server i, d[n,r] demand of a
// task of user n, phi[n] weight, x[n,i] tasks of n on i, x[n] = sum over i,
//   gamma[n,i] = min over r with d[n,r] > 0 of c[i,r]/d[n,r], 0 where i is not eligible for n:
//                the tasks that n could run on i if it were alone there;
//   s[n,i]     = x[n]/gamma[n,i], the virtual dominant share (VDS) of n at i; s/phi its level.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"

namespace houtu::psdsf {

/// No cap: as many tasks as the policy gives.
template <typename Amount>
inline constexpr Amount kNoCap =
    std::numeric_limits<Amount>::has_infinity ? std::numeric_limits<Amount>::infinity()
                                              : std::numeric_limits<Amount>::max();

template <typename Amount>
struct BasicServer {
  /// One amount per kind of resource; >= 0.
  std::vector<Amount> capacity;
};

template <typename Amount>
struct BasicUser {
  /// What one task takes, one amount per kind of resource; >= 0, at least one > 0.
  std::vector<Amount> demand;
  double weight = 1;
  /// Tasks wanted at most, over all servers; >= 0.
  Amount cap = kNoCap<Amount>;
  /// One entry per server; empty: every server is eligible.
  std::vector<bool> eligible;

  bool EligibleOn(int server) const { return eligible.empty() || eligible[server]; }
};

template <typename Amount>
struct BasicInstance {
  /// Kinds of resources: the length of each capacity and demand.
  int resources = 0;
  std::vector<BasicServer<Amount>> servers;
  std::vector<BasicUser<Amount>> users;

  int server_count() const { return static_cast<int>(servers.size()); }
  int user_count() const { return static_cast<int>(users.size()); }
};

using Server = BasicServer<double>;
using User = BasicUser<double>;
using Instance = BasicInstance<double>;

using WholeServer = BasicServer<int64_t>;
using WholeUser = BasicUser<int64_t>;
using WholeInstance = BasicInstance<int64_t>;

/// How users share a server. Resource division (RDM): each kind of resource is divided,
/// sum over n of x[n,i] d[n,r] <= c[i,r]. Time division (TDM): users take turns on the whole
/// server, sum over n of x[n,i]/gamma[n,i] <= 1 (this implies the former).
enum class Mode { kRdm, kTdm };

/// INVALID_ARGUMENT with the server or user and what is wrong with it.
absl::Status Validate(const Instance& instance);
absl::Status Validate(const WholeInstance& instance);

/// The same for one user of the instance.
absl::Status ValidateUser(const Instance& instance, int index, const User& user);

/// Tasks of that demand that fill the capacity, as if nothing else were there and every server
/// were eligible. Precondition: equal lengths, a demand > 0.
double TasksThatFill(const std::vector<double>& capacity, const std::vector<double>& demand);
double TasksThatFill(const std::vector<int64_t>& capacity, const std::vector<int64_t>& demand);

/// gamma[n,i].
template <typename Amount>
double Gamma(const BasicInstance<Amount>& instance, int user, int server) {
  const BasicUser<Amount>& of = instance.users[user];
  return of.EligibleOn(server) ? TasksThatFill(instance.servers[server].capacity, of.demand) : 0;
}

/// The capacities of all servers added up.
std::vector<double> TotalCapacity(const Instance& instance);
std::vector<double> TotalCapacity(const WholeInstance& instance);

}  // namespace houtu::psdsf
