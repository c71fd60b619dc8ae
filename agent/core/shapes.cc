#include "agent/core/shapes.h"

namespace houtu::agent {

ContainerShape ShapeOf(const std::string& image, v1::Network network) {
  return {.image = image.empty() ? "host" : image,
          .network = network == v1::NETWORK_HOST ? v1::NETWORK_HOST : v1::NETWORK_NONE};
}

}  // namespace houtu::agent
