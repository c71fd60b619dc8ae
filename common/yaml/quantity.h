// Numbers as people write them, read exactly: integers, amounts with a unit, durations. All
// arithmetic is in integers; what is not a whole number of the target's unit is refused, never
// rounded. Every error's message is "what is wrong; what to write instead" and names the literal.
#pragma once

#include <google/protobuf/duration.pb.h>

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "houtu/v1/options.pb.h"

namespace houtu::yaml {

/// Longest duration: ten years, in seconds.
inline constexpr int64_t kDurationSecondsMax = int64_t{87'600} * 3600;

/// A plain decimal integer: "0", "12", "-3". No leading zero (C02), no other base, no exponent.
absl::StatusOr<int64_t> ParseInteger(std::string_view text);

/// An amount in the field's unit: millicores ("500m", "0.5"), bytes ("1.5Gi", "1G"; C03) or
/// micro-credits ("0.10"). Units: cpu m; bytes k M G T (powers of 1000), Ki Mi Gi Ti (of 1024).
absl::StatusOr<int64_t> ParseQuantity(std::string_view text, v1::Quantity quantity);

/// "90s", "500ms", "1h30m", "1.5s": numbers each with a unit (h m s ms us ns), larger units first.
absl::StatusOr<google::protobuf::Duration> ParseDuration(std::string_view text);

}  // namespace houtu::yaml
