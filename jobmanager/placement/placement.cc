#include "jobmanager/placement/placement.h"

namespace houtu::jobmanager {

bool Fits(const ContainerShape& shape, const OpenContainer& container) {
  return shape.resources.FitsIn(container.free) &&
         (container.empty || shape.system == container.system);
}

std::vector<Placed> Place(std::vector<OpenContainer> containers, WaitingTasks* waiting) {
  std::vector<Placed> placed;
  for (const Nearness nearness : {Nearness::kNode, Nearness::kRack, Nearness::kAny}) {
    for (OpenContainer& container : containers) {
      while (container.starts_left == nullptr || *container.starts_left > 0) {
        const auto candidate = waiting->First(container, nearness);
        if (!candidate.has_value()) {
          break;
        }
        waiting->Take(candidate->task);
        container.free -= candidate->shape.resources;
        container.system = candidate->shape.system;
        container.empty = false;
        if (container.starts_left != nullptr) {
          --*container.starts_left;
        }
        placed.push_back({candidate->task, container.lease});
      }
    }
  }
  return placed;
}

}  // namespace houtu::jobmanager
