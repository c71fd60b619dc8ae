// Amounts, times and enum values as people read them.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace houtu::client {

/// "0B", "812B", "1.5Ki", "64Mi": at most one decimal, rounded down.
std::string HumanBytes(int64_t bytes);

/// "340ms", "12s", "3m05s", "2h07m", "3d04h"; below 0 as 0.
std::string HumanDuration(absl::Duration duration);

/// "2026-12-01 05:13:39Z"; empty for a message that is not set (0).
std::string HumanTime(const google::protobuf::Timestamp& time);

/// "12s" between two times; up to `now` where `end` is not set; empty where `start` is not.
std::string HumanSpan(const google::protobuf::Timestamp& start,
                      const google::protobuf::Timestamp& end, absl::Time now);

/// "RUNNING" for JOB_STATE_RUNNING: the name without what all values of the enum share.
std::string ShortName(const google::protobuf::EnumDescriptor* type, int value);

template <typename Enum>
std::string ShortName(Enum value) {
  return ShortName(google::protobuf::GetEnumDescriptor<Enum>(), static_cast<int>(value));
}

}  // namespace houtu::client
