#include "common/base/time.h"

namespace houtu {

google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp out;
  const int64_t nanos = absl::ToUnixNanos(time);
  int64_t seconds = nanos / 1'000'000'000;
  int64_t rest = nanos % 1'000'000'000;
  if (rest < 0) {
    --seconds;
    rest += 1'000'000'000;
  }
  out.set_seconds(seconds);
  out.set_nanos(static_cast<int32_t>(rest));
  return out;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration out;
  absl::Duration rest;
  out.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  out.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return out;
}

absl::Time FromProto(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Duration DurationOr(bool set, const google::protobuf::Duration& duration,
                          absl::Duration fallback) {
  return set ? FromProto(duration) : fallback;
}

}  // namespace houtu
