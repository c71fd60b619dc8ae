#include "client/exit_status.h"

#include <gtest/gtest.h>

namespace houtu::client {
namespace {

ExitStatus Of(absl::StatusCode code, Purpose purpose = Purpose::kOther) {
  return ExitStatusOf(absl::Status(code, "x"), purpose);
}

TEST(ExitStatusTest, FollowsTheDocumentedTable) {
  EXPECT_EQ(Of(absl::StatusCode::kInvalidArgument), ExitStatus::kBadUsage);
  EXPECT_EQ(Of(absl::StatusCode::kNotFound), ExitStatus::kNotFound);
  EXPECT_EQ(Of(absl::StatusCode::kUnauthenticated), ExitStatus::kNotAllowed);
  EXPECT_EQ(Of(absl::StatusCode::kPermissionDenied), ExitStatus::kNotAllowed);
  EXPECT_EQ(Of(absl::StatusCode::kAlreadyExists), ExitStatus::kConflict);
  EXPECT_EQ(Of(absl::StatusCode::kAborted), ExitStatus::kConflict);
  EXPECT_EQ(Of(absl::StatusCode::kUnavailable), ExitStatus::kUnreachable);
  EXPECT_EQ(Of(absl::StatusCode::kDeadlineExceeded), ExitStatus::kUnreachable);
  EXPECT_EQ(Of(absl::StatusCode::kCancelled), ExitStatus::kInterrupted);
  EXPECT_EQ(Of(absl::StatusCode::kInternal), ExitStatus::kJobFailed);
  EXPECT_EQ(ExitStatusOf(absl::OkStatus(), Purpose::kOther), ExitStatus::kDone);
}

TEST(ExitStatusTest, TellsARefusedJobFromARefusedCommand) {
  EXPECT_EQ(Of(absl::StatusCode::kFailedPrecondition, Purpose::kSubmit), ExitStatus::kNotPlaceable);
  EXPECT_EQ(Of(absl::StatusCode::kResourceExhausted, Purpose::kSubmit), ExitStatus::kNotPlaceable);
  EXPECT_EQ(Of(absl::StatusCode::kFailedPrecondition), ExitStatus::kConflict);
}

TEST(ExitStatusTest, IsTheJobsEnd) {
  EXPECT_EQ(ExitStatusOf(v1::JOB_STATE_SUCCEEDED), ExitStatus::kDone);
  EXPECT_EQ(ExitStatusOf(v1::JOB_STATE_FAILED), ExitStatus::kJobFailed);
  EXPECT_EQ(ExitStatusOf(v1::JOB_STATE_CANCELLED), ExitStatus::kCancelled);
}

}  // namespace
}  // namespace houtu::client
