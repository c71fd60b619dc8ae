// ContainerShape: what a task needs of a container, shared by all tasks of its stage.
#pragma once

#include <compare>
#include <string>

#include "common/base/resources.h"
#include "houtu/v1/job.pb.h"

namespace houtu::jobmanager {

/// The image and the network that a container runs with; an empty container can change both.
struct ContainerSystem {
  std::string image;
  v1::Network network = v1::NETWORK_NONE;
  auto operator<=>(const ContainerSystem&) const = default;
};

struct ContainerShape {
  Resources resources;
  ContainerSystem system;
  bool operator==(const ContainerShape&) const = default;
};

/// With the documented defaults: one core and 256 MiB, the job's image, no network.
ContainerShape ShapeOf(const v1::Job& job, const v1::Stage& stage);

}  // namespace houtu::jobmanager
