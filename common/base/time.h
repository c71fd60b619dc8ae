// Time: cores are given `now` as absl::Time; shells read a Clock. Conversions to the schema's
// types.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/time/time.h"

namespace houtu {

google::protobuf::Timestamp ToProto(absl::Time time);
google::protobuf::Duration ToProto(absl::Duration duration);
absl::Time FromProto(const google::protobuf::Timestamp& timestamp);
absl::Duration FromProto(const google::protobuf::Duration& duration);

/// The field's duration where `set`, else `fallback`: DurationOr(c.has_period(), c.period(),
/// absl::Seconds(1)).
absl::Duration DurationOr(bool set, const google::protobuf::Duration& duration,
                          absl::Duration fallback);

}  // namespace houtu
