#include "jobmanager/core/container_shape.h"

namespace houtu::jobmanager {
namespace {

constexpr int64_t kDefaultCpuMillis = 1000;
constexpr int64_t kDefaultMemoryBytes = int64_t{256} << 20;

Resources NeedOf(const v1::Stage& stage) {
  Resources need = Resources::FromProto(stage.resources());
  Resources result(need.cpu_millis() > 0 ? need.cpu_millis() : kDefaultCpuMillis,
                   need.memory_bytes() > 0 ? need.memory_bytes() : kDefaultMemoryBytes);
  for (const auto& [kind, amount] : need.customs()) {
    result.set_custom(kind, amount);
  }
  return result;
}

}  // namespace

ContainerShape ShapeOf(const v1::Job& job, const v1::Stage& stage) {
  ContainerShape shape;
  shape.resources = NeedOf(stage);
  shape.system.image = !stage.image().empty() ? stage.image()
                       : !job.image().empty() ? job.image()
                                              : "host";
  shape.system.network =
      stage.network() == v1::NETWORK_UNSPECIFIED ? v1::NETWORK_NONE : stage.network();
  return shape;
}

}  // namespace houtu::jobmanager
