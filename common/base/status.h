// Errors are values: absl::Status. The codes' meaning in Houtu:
//   INVALID_ARGUMENT never again      NOT_FOUND / ALREADY_EXISTS as named    ABORTED lost a race,
//   read again FAILED_PRECONDITION the caller must change something first              UNAVAILABLE
//   try again DEADLINE_EXCEEDED outcome unknown: ask first RESOURCE_EXHAUSTED a limit, named
//   PERMISSION_DENIED / UNAUTHENTICATED who may not, or is not known        INTERNAL a fault of
//   ours
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace houtu {

/// A status with a formatted message: Error(absl::StatusCode::kNotFound, "no job {}", id).
template <typename... Args>
absl::Status Error(absl::StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return absl::Status(code, fmt::format(format, std::forward<Args>(args)...));
}

/// The status with "<context>: " before its message; OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

/// A status for errno, with the errno in words; the code that fits it (ENOENT: NOT_FOUND, ENOSPC
/// and EDQUOT: RESOURCE_EXHAUSTED, EACCES and EPERM: PERMISSION_DENIED, EEXIST: ALREADY_EXISTS,
/// EROFS: FAILED_PRECONDITION, else INTERNAL).
absl::Status ErrnoError(int error_number, std::string_view what);

/// The status's message as a std::string (absl::string_view is a type of its own in Debian 12).
inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace houtu

#define HOUTU_CONCAT_INNER(a, b) a##b
#define HOUTU_CONCAT(a, b) HOUTU_CONCAT_INNER(a, b)

/// Returns the status of `expression` from the enclosing function unless it is OK.
#define HOUTU_RETURN_IF_ERROR(expression)                                 \
  do {                                                                    \
    if (absl::Status houtu_status_ = (expression); !houtu_status_.ok()) { \
      return houtu_status_;                                               \
    }                                                                     \
  } while (false)

/// HOUTU_ASSIGN_OR_RETURN(auto x, F()): x is F's value, or the enclosing function returns F's
/// status.
#define HOUTU_ASSIGN_OR_RETURN(lhs, expression) \
  HOUTU_ASSIGN_OR_RETURN_INNER(HOUTU_CONCAT(houtu_or_, __LINE__), lhs, expression)
#define HOUTU_ASSIGN_OR_RETURN_INNER(tmp, lhs, expression) \
  auto tmp = (expression);                                 \
  if (!tmp.ok()) {                                         \
    return tmp.status();                                   \
  }                                                        \
  lhs = std::move(tmp).value()
