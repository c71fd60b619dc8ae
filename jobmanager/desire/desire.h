// Desire: how many containers of which shape a manager asks its master for. Pure; called once per
// period and whenever tasks become ready. One container for every task that could run now.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "houtu/v1/job_master_service.pb.h"
#include "jobmanager/core/container_shape.h"

namespace houtu::jobmanager {

/// Work and containers of one size. Sizes are distinct: images and networks share containers.
struct ShapeWork {
  Resources resources;
  /// What new containers start with, and the stage that messages name: those of the first task.
  ContainerSystem system;
  std::string stage;
  /// Tasks that could run now and have no container.
  int waiting = 0;
  /// Where they would like to run; the rest does not mind.
  std::map<std::string, int> waiting_by_node;
  /// Containers of exactly this size that are held and not being given back.
  int held = 0;
  std::map<std::string, int> held_by_node;
};

/// No more new containers than make `containers_max` in all: what is held counts first, and is
/// kept where it is more; then what waits, in the shapes' order. Shapes that need none are left
/// out.
v1::Desire ComputeDesire(const std::vector<ShapeWork>& shapes, int containers_max);

}  // namespace houtu::jobmanager
