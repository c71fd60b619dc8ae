// The paper's examples, and random instances for properties.
#pragma once

#include <rapidcheck.h>

#include <vector>

#include "master/allocator/psdsf/instance.h"
#include "master/allocator/psdsf/solver.h"
#include "master/allocator/psdsf/whole.h"

namespace houtu::psdsf {

/// Two servers of CPU, RAM (GB), bandwidth (Mb/s): [9, 12, 100] and [12, 12, 0].
inline std::vector<Server> PaperServers() {
  return {{.capacity = {9, 12, 100}}, {.capacity = {12, 12, 0}}};
}

/// Fig. 1: everybody's bottleneck is RAM; user 3 may use both servers.
inline Instance Figure1() {
  return {.resources = 3,
          .servers = PaperServers(),
          .users = {{.demand = {1, 2, 10}, .weight = 1},
                    {.demand = {1, 2, 1}, .weight = 1},
                    {.demand = {1, 2, 0}, .weight = 2}}};
}

/// Fig. 2: four users of equal weight; the first two need bandwidth.
inline Instance Figure2() {
  return {.resources = 3,
          .servers = PaperServers(),
          .users = {{.demand = {1.5, 1, 10}},
                    {.demand = {1, 2, 10}},
                    {.demand = {0.5, 1, 0}},
                    {.demand = {1, 0.5, 0}}}};
}

struct InstanceKind {
  bool caps = false;
  bool constraints = true;
  /// Every server has, and every user needs, some of each resource.
  bool positive = false;
};

/// Whole, mostly small amounts, so that levels and resources often tie.
inline Instance AnyInstance(const InstanceKind& kind) {
  const int least = kind.positive ? 1 : 0;
  Instance instance{.resources = *rc::gen::inRange(1, 5)};
  const int servers = *rc::gen::inRange(1, 6);
  const int users = *rc::gen::inRange(1, 8);
  const auto amounts = [&](int below) {
    std::vector<double> out;
    for (int r = 0; r < instance.resources; ++r) {
      out.push_back(*rc::gen::inRange(least, below));
    }
    return out;
  };
  for (int i = 0; i < servers; ++i) {
    instance.servers.push_back({.capacity = amounts(20)});
  }
  for (int n = 0; n < users; ++n) {
    User user{.demand = amounts(8), .weight = static_cast<double>(*rc::gen::inRange(1, 4))};
    user.demand[*rc::gen::inRange(0, instance.resources)] += 1;
    if (kind.caps && *rc::gen::arbitrary<bool>()) {
      user.cap = *rc::gen::inRange(0, 8);
    }
    for (int i = 0; i < servers && kind.constraints; ++i) {
      user.eligible.push_back(*rc::gen::inRange(0, 3) > 0);
    }
    instance.users.push_back(user);
  }
  return instance;
}

inline Mode AnyMode() { return *rc::gen::element(Mode::kRdm, Mode::kTdm); }

}  // namespace houtu::psdsf
