#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace houtu {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace houtu
