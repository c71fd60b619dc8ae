#include "common/yaml/source_map.h"

#include "common/yaml/path.h"

namespace houtu::yaml {

Place SourceMap::Find(std::string_view path) const {
  while (true) {
    const auto it = places_.find(std::string(path));
    if (it != places_.end()) {
      return it->second;
    }
    if (path.empty()) {
      return {};
    }
    path = ParentPath(path);
  }
}

}  // namespace houtu::yaml
