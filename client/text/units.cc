#include "client/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/time.h"

namespace houtu::client {
namespace {

bool IsSet(const google::protobuf::Timestamp& time) {
  return time.seconds() != 0 || time.nanos() != 0;
}

}  // namespace

std::string HumanBytes(int64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (bytes < 1024) {
    return fmt::format("{}B", bytes);
  }
  size_t unit = 0;
  int64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
  while (tenths >= 10240 && unit + 1 < kUnits.size()) {
    tenths /= 1024;
    ++unit;
  }
  return tenths % 10 == 0 ? fmt::format("{}{}", tenths / 10, kUnits[unit])
                          : fmt::format("{}.{}{}", tenths / 10, tenths % 10, kUnits[unit]);
}

std::string HumanDuration(absl::Duration duration) {
  const int64_t millis = std::max<int64_t>(0, absl::ToInt64Milliseconds(duration));
  const int64_t seconds = millis / 1000;
  if (seconds == 0) {
    return fmt::format("{}ms", millis);
  }
  if (seconds < 60) {
    return fmt::format("{}s", seconds);
  }
  if (seconds < 3600) {
    return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  }
  const int64_t hours = seconds / 3600;
  return hours < 24 ? fmt::format("{}h{:02}m", hours, seconds / 60 % 60)
                    : fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

std::string HumanTime(const google::protobuf::Timestamp& time) {
  return IsSet(time) ? absl::FormatTime("%Y-%m-%d %H:%M:%SZ", FromProto(time), absl::UTCTimeZone())
                     : "";
}

std::string HumanSpan(const google::protobuf::Timestamp& start,
                      const google::protobuf::Timestamp& end, absl::Time now) {
  if (!IsSet(start)) {
    return "";
  }
  return HumanDuration((IsSet(end) ? FromProto(end) : now) - FromProto(start));
}

std::string ShortName(const google::protobuf::EnumDescriptor* type, int value) {
  constexpr std::string_view kZero = "UNSPECIFIED";
  const google::protobuf::EnumValueDescriptor* found = type->FindValueByNumber(value);
  if (found == nullptr) {
    return fmt::format("{}", value);  // of a newer master
  }
  const std::string& zero = type->value(0)->name();
  const size_t prefix = zero.ends_with(kZero) ? zero.size() - kZero.size() : 0;
  return value == 0 ? "" : found->name().substr(std::min(prefix, found->name().size()));
}

}  // namespace houtu::client
