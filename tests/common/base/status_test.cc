#include "common/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace houtu {
namespace {

TEST(StatusTest, AnAnnotationKeepsTheCodeAndStandsInFront) {
  const absl::Status status =
      Annotate(Error(absl::StatusCode::kNotFound, "no job {}", "j1"), "submit");
  EXPECT_EQ(status, absl::NotFoundError("submit: no job j1"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "submit").ok());
}

TEST(StatusTest, AnErrnoIsItsCodeInWords) {
  const std::pair<int, absl::StatusCode> expected[] = {
      {ENOENT, absl::StatusCode::kNotFound},
      {EEXIST, absl::StatusCode::kAlreadyExists},
      {EACCES, absl::StatusCode::kPermissionDenied},
      {EPERM, absl::StatusCode::kPermissionDenied},
      {ENOSPC, absl::StatusCode::kResourceExhausted},
      {EDQUOT, absl::StatusCode::kResourceExhausted},
      {EROFS, absl::StatusCode::kFailedPrecondition},
      {EIO, absl::StatusCode::kInternal}};
  for (const auto& [number, code] : expected) {
    EXPECT_EQ(ErrnoError(number, "write").code(), code);
  }
  EXPECT_EQ(Message(ErrnoError(ENOSPC, "write x")), "write x: No space left on device");
}

absl::StatusOr<int> Half(int number) {
  if (number % 2 != 0) return Error(absl::StatusCode::kInvalidArgument, "{} is odd", number);
  return number / 2;
}

absl::StatusOr<int> Quarter(int number) {
  HOUTU_ASSIGN_OR_RETURN(const int half, Half(number));
  HOUTU_ASSIGN_OR_RETURN(const int quarter, Half(half));
  HOUTU_RETURN_IF_ERROR(absl::OkStatus());
  return quarter;
}

TEST(StatusTest, TheMacrosReturnTheFirstError) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("3 is odd"));
  EXPECT_EQ(Quarter(7).status(), absl::InvalidArgumentError("7 is odd"));
}

}  // namespace
}  // namespace houtu
