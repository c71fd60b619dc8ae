// A decimal number without a sign, as text: its digits, exact, and what follows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace houtu::yaml {

// 128 bits hold every product of a Decimal's parts with the largest unit (2^40).
__extension__ using Int128 = __int128;

/// Most digits before and behind the point.
inline constexpr size_t kDecimalDigitsMax = 18;

/// whole + fraction / 10^fraction_digits.
struct Decimal {
  int64_t whole = 0;
  int64_t fraction = 0;
  int fraction_digits = 0;

  /// The number times `unit`, where that is a whole number that fits 64 bits.
  std::optional<int64_t> Times(int64_t unit) const;
};

/// Reads the number at the start of `*text` and removes it from there. INVALID_ARGUMENT where there
/// is none or it has a leading zero, a bare point or too many digits; the message names the number.
absl::StatusOr<Decimal> TakeDecimal(std::string_view* text);

/// Whether all of `text` is decimal digits (and there is one).
bool IsDigits(std::string_view text);

/// `digits` without the zeros in front ("0" where nothing else is left).
std::string WithoutLeadingZeros(std::string_view digits);

/// The text to write for a number with a base prefix or leading zeros ("0x10": 16, "0o10": 8,
/// "010": 10), if it is one.
std::optional<std::string> PlainSpelling(std::string_view text);

}  // namespace houtu::yaml
