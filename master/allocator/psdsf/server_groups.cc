#include "master/allocator/psdsf/server_groups.h"

#include <map>
#include <utility>

namespace houtu::psdsf {
namespace {

using Key = std::pair<std::vector<double>, std::vector<bool>>;

/// What users can tell of a server.
Key KeyOf(const Instance& instance, int server) {
  std::vector<bool> eligible(instance.users.size());
  for (int n = 0; n < instance.user_count(); ++n) {
    eligible[n] = instance.users[n].EligibleOn(server);
  }
  return {instance.servers[server].capacity, std::move(eligible)};
}

}  // namespace

std::vector<ServerGroup> GroupServers(const Instance& instance, bool merge) {
  std::vector<ServerGroup> groups;
  std::map<Key, size_t> known;
  for (int i = 0; i < instance.server_count(); ++i) {
    const size_t group =
        merge ? known.try_emplace(KeyOf(instance, i), groups.size()).first->second : groups.size();
    if (group == groups.size()) {
      groups.push_back({.servers = {}, .capacity = std::vector<double>(instance.resources, 0)});
    }
    groups[group].servers.push_back(i);
    for (int r = 0; r < instance.resources; ++r) {
      groups[group].capacity[r] += instance.servers[i].capacity[r];
    }
  }
  for (ServerGroup& group : groups) {
    group.gamma.resize(instance.users.size());
    for (int n = 0; n < instance.user_count(); ++n) {
      group.gamma[n] = GroupGamma(instance, group, n);
    }
  }
  return groups;
}

double GroupGamma(const Instance& instance, const ServerGroup& group, int user) {
  const User& of = instance.users[user];
  return of.EligibleOn(group.servers.front()) ? TasksThatFill(group.capacity, of.demand) : 0;
}

Allocation SpreadOverServers(const Instance& instance, const std::vector<ServerGroup>& groups,
                             const std::vector<double>& tasks) {
  const int users = instance.user_count();
  Allocation allocation(users, instance.server_count());
  for (size_t g = 0; g < groups.size(); ++g) {
    const double size = static_cast<double>(groups[g].servers.size());
    for (const int i : groups[g].servers) {
      for (int n = 0; n < users; ++n) {
        allocation.At(n, i) = tasks[g * users + n] / size;
      }
    }
  }
  return allocation;
}

std::vector<double> GatherByGroup(const std::vector<ServerGroup>& groups,
                                  const Allocation& allocation) {
  const int users = allocation.users();
  std::vector<double> tasks(groups.size() * users, 0);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int i : groups[g].servers) {
      for (int n = 0; n < users; ++n) {
        tasks[g * users + n] += groups[g].gamma[n] > 0 ? allocation.At(n, i) : 0;
      }
    }
  }
  return tasks;
}

}  // namespace houtu::psdsf
