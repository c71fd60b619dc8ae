#include "agent/core/shapes.h"

namespace houtu::agent {

bool IsStageName(std::string_view name) {
  constexpr std::string_view kSeparators("/\0", 2);
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(kSeparators) == std::string_view::npos;
}

ContainerShape ShapeOf(const std::string& image, v1::Network network) {
  return {.image = image.empty() ? "host" : image,
          .network = network == v1::NETWORK_HOST ? v1::NETWORK_HOST : v1::NETWORK_NONE};
}

}  // namespace houtu::agent
