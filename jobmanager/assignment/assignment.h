// Assignment: the primary's split of a stage's tasks over the datacenters (HOUTU: in proportion to
// the input bytes there). Pure. The paper leaves rounding open: largest remainder, and a datacenter
// is given first those tasks whose bytes it holds.
#pragma once

#include <cstdint>
#include <vector>

namespace houtu::jobmanager {

/// Where the input of a stage's tasks lies. Datacenters are numbers from 0.
struct InputBytes {
  int tasks = 0;
  int datacenters = 1;
  /// By task: the datacenter that must have it (raw input; one_to_one), -1: any. Empty: any for
  /// all.
  std::vector<int> pinned;
  /// By datacenter: bytes that every task reads (gather, broadcast). Empty: none.
  std::vector<int64_t> common;
  /// By task, then datacenter: bytes that it alone reads (shuffle). Empty: not known or none.
  std::vector<std::vector<int64_t>> own;
};

/// `total` split in proportion to `weights` by largest remainder; of equal remainders the one at
/// `preferred` first, then the lower. All weights 0: evenly. Weights are not negative, and there is
/// at least one.
std::vector<int> SplitByWeight(int total, const std::vector<int64_t>& weights, int preferred);

/// The datacenter of each task. `home` is the primary's own datacenter: ties go there.
std::vector<int> AssignTasks(const InputBytes& input, int home);

}  // namespace houtu::jobmanager
