#include "jobmanager/assignment/assignment.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace houtu::jobmanager {
namespace {

constexpr int kAnywhere = -1;

using Wide = unsigned __int128;

// Bytes of the free tasks by datacenter.
std::vector<int64_t> Weights(const InputBytes& input, const std::vector<int>& assigned) {
  std::vector<int64_t> weights(input.datacenters, 0);
  for (size_t dc = 0; dc < input.common.size(); ++dc) {
    weights[dc] += input.common[dc];
  }
  for (size_t task = 0; task < input.own.size(); ++task) {
    for (int dc = 0; assigned[task] == kAnywhere && dc < input.datacenters; ++dc) {
      weights[dc] += input.own[task][dc];
    }
  }
  return weights;
}

// Most bytes first: each task goes where they lie while that datacenter's share lasts.
void AssignWhereBytesLie(const InputBytes& input, std::vector<int>* quota,
                         std::vector<int>* assigned) {
  std::vector<std::tuple<int64_t, int, int>> offers;  // -bytes, task, datacenter
  for (size_t task = 0; task < input.own.size(); ++task) {
    for (int dc = 0; (*assigned)[task] == kAnywhere && dc < input.datacenters; ++dc) {
      if (input.own[task][dc] > 0) {
        offers.emplace_back(-input.own[task][dc], static_cast<int>(task), dc);
      }
    }
  }
  std::ranges::sort(offers);
  for (const auto& [bytes, task, dc] : offers) {
    if ((*assigned)[task] == kAnywhere && (*quota)[dc] > 0) {
      (*assigned)[task] = dc;
      --(*quota)[dc];
    }
  }
}

}  // namespace

std::vector<int> SplitByWeight(int total, const std::vector<int64_t>& weights, int preferred) {
  const int count = static_cast<int>(weights.size());
  std::vector<int64_t> effective = weights;
  Wide sum = std::accumulate(effective.begin(), effective.end(), Wide{0});
  if (sum == 0) {
    effective.assign(count, 1);
    sum = static_cast<Wide>(count);
  }
  std::vector<int> parts(count);
  std::vector<std::tuple<Wide, bool, int>> remainders;  // sorted: the largest last
  int left = total;
  for (int i = 0; i < count; ++i) {
    const Wide exact = static_cast<Wide>(effective[i]) * static_cast<Wide>(total);
    parts[i] = static_cast<int>(exact / sum);
    left -= parts[i];
    remainders.emplace_back(exact % sum, i == preferred, -i);
  }
  std::ranges::sort(remainders, std::greater<>());
  for (int i = 0; i < left; ++i) {
    ++parts[-std::get<2>(remainders[i])];
  }
  return parts;
}

std::vector<int> AssignTasks(const InputBytes& input, int home) {
  std::vector<int> assigned = input.pinned;
  assigned.resize(input.tasks, kAnywhere);
  const int free_tasks = static_cast<int>(std::ranges::count(assigned, kAnywhere));
  std::vector<int> quota = SplitByWeight(free_tasks, Weights(input, assigned), home);
  AssignWhereBytesLie(input, &quota, &assigned);
  int dc = 0;
  for (int& place : assigned) {
    while (place == kAnywhere && quota[dc] == 0) {
      ++dc;
    }
    if (place == kAnywhere) {
      place = dc;
      --quota[dc];
    }
  }
  return assigned;
}

}  // namespace houtu::jobmanager
