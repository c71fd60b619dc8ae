// Placement: which waiting task runs in which container. Pure. Node-local tasks first, then
// rack-local ones, then any, several to a container where they fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobmanager/core/container_shape.h"
#include "jobmanager/core/types.h"

namespace houtu::jobmanager {

/// A container that can take tasks now.
struct OpenContainer {
  std::string lease;
  std::string node;
  std::string rack;
  Resources free;
  ContainerSystem system;
  /// Nothing runs in it: it can change its system.
  bool empty = false;
  /// Starts that its node may be given at this time; all its node's containers share the number.
  int* starts_left = nullptr;
};

/// How near a container is to what a task reads.
enum class Nearness { kNode, kRack, kAny };

/// The tasks that wait, as the placement sees them.
class WaitingTasks {
 public:
  virtual ~WaitingTasks() = default;

  struct Candidate {
    TaskRef task;
    ContainerShape shape;
  };
  /// The first task that is this near to the container and fits into it.
  virtual std::optional<Candidate> First(const OpenContainer& container, Nearness nearness) = 0;
  /// The task was placed and waits no more.
  virtual void Take(TaskRef task) = 0;
};

struct Placed {
  TaskRef task;
  std::string lease;
};

/// Whether a task of this shape can be started in the container now.
bool Fits(const ContainerShape& shape, const OpenContainer& container);

/// Places as many waiting tasks as fit. `containers` are filled in their order, each as far as it
/// goes, once for every nearness.
std::vector<Placed> Place(std::vector<OpenContainer> containers, WaitingTasks* waiting);

}  // namespace houtu::jobmanager
