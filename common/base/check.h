// HOUTU_CHECK, HOUTU_UNREACHABLE: broken invariants of our own crash loudly, in release builds too.
#pragma once

#include <string_view>

namespace houtu {

/// Prints file, line, condition and message to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace houtu

/// Aborts unless `condition` holds; `message` (a string) says what the code relied on.
#define HOUTU_CHECK(condition, message)                              \
  do {                                                               \
    if (!(condition)) [[unlikely]] {                                 \
      ::houtu::CheckFailed(__FILE__, __LINE__, #condition, message); \
    }                                                                \
  } while (false)

/// Aborts: the code relied on never coming here.
#define HOUTU_UNREACHABLE(message) \
  ::houtu::CheckFailed(__FILE__, __LINE__, "this line is never reached", message)
