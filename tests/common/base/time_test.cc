#include "common/base/time.h"

#include <gtest/gtest.h>

namespace houtu {
namespace {

TEST(TimeTest, TimesReadBackAlsoBeforeTheEpoch) {
  for (const int64_t nanos : {int64_t{0}, int64_t{1}, int64_t{-1},
                              int64_t{1'700'000'000'123'456'789}, int64_t{-1'500'000'000}}) {
    const absl::Time time = absl::FromUnixNanos(nanos);
    const google::protobuf::Timestamp message = ToProto(time);
    EXPECT_EQ(FromProto(message), time);
    EXPECT_GE(message.nanos(), 0) << "nanoseconds of a timestamp count forward";
    EXPECT_LT(message.nanos(), 1'000'000'000);
  }
}

TEST(TimeTest, DurationsReadBackAndTheirPartsHaveOneSign) {
  for (const absl::Duration duration :
       {absl::ZeroDuration(), absl::Milliseconds(1500), absl::Milliseconds(-1500),
        absl::Nanoseconds(-1), absl::Hours(24 * 365)}) {
    const google::protobuf::Duration message = ToProto(duration);
    EXPECT_EQ(FromProto(message), duration);
    EXPECT_TRUE(message.seconds() == 0 || message.nanos() == 0 ||
                (message.seconds() < 0) == (message.nanos() < 0));
  }
}

TEST(TimeTest, AFieldThatIsNotSetIsItsDefaultAndZeroIsAValue) {
  const google::protobuf::Duration zero;
  EXPECT_EQ(DurationOr(false, zero, absl::Seconds(5)), absl::Seconds(5));
  EXPECT_EQ(DurationOr(true, zero, absl::Seconds(5)), absl::ZeroDuration());
}

}  // namespace
}  // namespace houtu
