#include "common/base/status.h"

#include <cerrno>
#include <system_error>

namespace houtu {
namespace {

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
      return absl::StatusCode::kResourceExhausted;
    case EROFS:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) {
    return status;
  }
  return absl::Status(status.code(), fmt::format("{}: {}", context, Message(status)));
}

absl::Status ErrnoError(int error_number, std::string_view what) {
  return Error(CodeOf(error_number), "{}: {}", what,
               std::error_code(error_number, std::generic_category()).message());
}

}  // namespace houtu
