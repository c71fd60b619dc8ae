#include "common/yaml/decimal.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/base/status.h"
#include "common/yaml/problem.h"

namespace houtu::yaml {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TakeDigits(std::string_view* text) {
  const auto end = std::find_if_not(text->begin(), text->end(), IsDigit);
  const std::string_view digits = text->substr(0, static_cast<size_t>(end - text->begin()));
  text->remove_prefix(digits.size());
  return digits;
}

// Precondition: at most kDecimalDigitsMax digits.
int64_t ValueOf(std::string_view digits) {
  int64_t value = 0;
  for (const char digit : digits) {
    value = value * 10 + (digit - '0');
  }
  return value;
}

std::optional<std::string> InBase(std::string_view digits, int base) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return std::to_string(value);
}

}  // namespace

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

std::string WithoutLeadingZeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

std::optional<std::string> PlainSpelling(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') {
    return std::nullopt;
  }
  switch (text[1]) {
    case 'x':
    case 'X':
      return InBase(text.substr(2), 16);
    case 'o':
    case 'O':
      return InBase(text.substr(2), 8);
    case 'b':
    case 'B':
      return InBase(text.substr(2), 2);
    default:
      return IsDigits(text) ? std::optional(WithoutLeadingZeros(text)) : std::nullopt;
  }
}

std::optional<int64_t> Decimal::Times(int64_t unit) const {
  Int128 power = 1;
  for (int i = 0; i < fraction_digits; ++i) {
    power *= 10;
  }
  const Int128 part = Int128{fraction} * unit;
  const Int128 sum = Int128{whole} * unit + part / power;
  if (part % power != 0 || sum > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(sum);
}

absl::StatusOr<Decimal> TakeDecimal(std::string_view* text) {
  const std::string_view all = *text;
  const std::string_view whole = TakeDigits(text);
  std::string_view fraction;
  const bool point = !text->empty() && text->front() == '.';
  if (point) {
    text->remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (whole.empty() || (point && fraction.empty())) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} does not start with a number; write one like 2 or 0.5", Quote(all));
  }
  if (whole.size() > 1 && whole.front() == '0') {
    return Error(absl::StatusCode::kInvalidArgument, "{} has a leading zero; write {}{}",
                 Quote(all), WithoutLeadingZeros(whole),
                 all.substr(whole.size(), kDecimalDigitsMax));
  }
  while (fraction.ends_with('0')) {
    fraction.remove_suffix(1);
  }
  if (whole.size() > kDecimalDigitsMax || fraction.size() > kDecimalDigitsMax) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} has too many digits; write at most {} before and behind the point", Quote(all),
                 kDecimalDigitsMax);
  }
  return Decimal{.whole = ValueOf(whole),
                 .fraction = ValueOf(fraction),
                 .fraction_digits = static_cast<int>(fraction.size())};
}

}  // namespace houtu::yaml
