#include "jobmanager/desire/desire.h"

#include <algorithm>
#include <utility>

namespace houtu::jobmanager {
namespace {

v1::Demand DemandFor(const ShapeWork& work, int more) {
  v1::Demand demand;
  *demand.mutable_resources() = work.resources.ToProto();
  demand.set_containers(work.held + more);
  demand.set_image(work.system.image);
  demand.set_network(work.system.network);
  demand.set_stage(work.stage);
  for (const auto& [node, held] : work.held_by_node) {
    (*demand.mutable_nodes())[node] += held;
  }
  for (const auto& [node, waiting] : work.waiting_by_node) {
    const int wanted = std::min(waiting, more);
    if (wanted > 0) {
      (*demand.mutable_nodes())[node] += wanted;
    }
  }
  return demand;
}

}  // namespace

v1::Desire ComputeDesire(const std::vector<ShapeWork>& shapes, int containers_max) {
  int left = containers_max;
  for (const ShapeWork& work : shapes) {
    left -= work.held;
  }
  v1::Desire desire;
  for (const ShapeWork& work : shapes) {
    const int more = std::clamp(work.waiting, 0, std::max(left, 0));
    left -= more;
    if (work.held + more > 0) {
      *desire.add_demands() = DemandFor(work, more);
    }
  }
  return desire;
}

}  // namespace houtu::jobmanager
