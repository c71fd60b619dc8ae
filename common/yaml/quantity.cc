#include "common/yaml/quantity.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "common/base/status.h"
#include "common/yaml/decimal.h"
#include "common/yaml/problem.h"

namespace houtu::yaml {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor = 1;
};

constexpr Unit kCpuUnits[] = {{"", 1000}, {"m", 1}};
constexpr Unit kByteUnits[] = {{"", 1},
                               {"k", 1'000},
                               {"M", 1'000'000},
                               {"G", 1'000'000'000},
                               {"T", 1'000'000'000'000},
                               {"Ki", int64_t{1} << 10},
                               {"Mi", int64_t{1} << 20},
                               {"Gi", int64_t{1} << 30},
                               {"Ti", int64_t{1} << 40}};
constexpr Unit kCreditUnits[] = {{"", 1'000'000}};
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr Unit kDurationUnits[] = {{"h", 3600 * kNanosPerSecond},
                                   {"m", 60 * kNanosPerSecond},
                                   {"s", kNanosPerSecond},
                                   {"ms", 1'000'000},
                                   {"us", 1'000},
                                   {"ns", 1}};

// How a quantity reads in messages.
struct Kind {
  std::span<const Unit> units;
  std::string_view whole;     // what the field counts
  std::string_view examples;  // what to write
};

Kind KindOf(v1::Quantity quantity) {
  switch (quantity) {
    case v1::QUANTITY_CPU:
      return {kCpuUnits, "millicores", "500m, 0.5 or 2"};
    case v1::QUANTITY_BYTES:
      return {kByteUnits, "bytes", "64Mi, 1.5Gi or 1G"};
    case v1::QUANTITY_CREDITS:
      return {kCreditUnits, "micro-credits", "30 or 0.10"};
    case v1::QUANTITY_UNSPECIFIED:
    case v1::Quantity_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Quantity_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  static constexpr Unit kNone[] = {{"", 1}};
  return {kNone, "units", "3"};
}

const Unit* FindUnit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

// "Gi" of " Gi", "Mi" of "MiB ".
std::string_view BareUnit(std::string_view written) {
  while (written.starts_with(' ')) {
    written.remove_prefix(1);
  }
  while (written.ends_with(' ') || (written.size() > 1 && Lower(written.back()) == 'b')) {
    written.remove_suffix(1);
  }
  return written;
}

// The unit that was probably meant: "1gi" and "1 Gi" mean Gi, "512m" of memory means Mi.
const Unit* GuessUnit(std::span<const Unit> units, std::string_view written) {
  const std::string_view name = BareUnit(written);
  const bool thousandths = name == "m";
  for (const Unit& unit : units) {
    if ((EqualIgnoringCase(unit.name, name) && !thousandths) ||
        (thousandths && unit.name == "Mi")) {
      return &unit;
    }
  }
  return nullptr;
}

absl::Status UnknownUnit(std::string_view text, std::string_view unit, const Kind& kind) {
  const std::string_view number = text.substr(0, text.size() - unit.size());
  const std::string_view meaning =
      unit == "m" ? "\"m\" means thousandths" : "the unit is not known here";
  if (const Unit* guess = GuessUnit(kind.units, unit); guess != nullptr) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is no amount of {}: {}; write {}{}",
                 Quote(text), kind.whole, meaning, number.substr(0, 40), guess->name);
  }
  return Error(absl::StatusCode::kInvalidArgument, "{} is no amount of {}: {}; write it like {}",
               Quote(text), kind.whole, meaning, kind.examples);
}

// Signs and other bases, which have a message of their own.
absl::Status CheckSpelling(std::string_view text, const Kind& kind) {
  if (text.starts_with('-') || text.starts_with('+')) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} has a sign; write an amount of 0 or more like {}", Quote(text), kind.examples);
  }
  if (const auto plain = PlainSpelling(text)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is not a plain decimal number; write {}",
                 Quote(text), *plain);
  }
  return absl::OkStatus();
}

// The next number with its unit, in nanoseconds. Units must get smaller.
absl::StatusOr<int64_t> TakeDurationPart(std::string_view text, std::string_view* rest,
                                         int64_t* previous_factor) {
  const auto refuse = [text](std::string_view why) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is no duration: {}; write one like 90s, 500ms or 1h30m", Quote(text), why);
  };
  const auto number = TakeDecimal(rest);
  if (!number.ok()) {
    return refuse("it needs plain decimal numbers, each with its unit");
  }
  const std::string_view name = rest->substr(0, rest->find_first_of("0123456789."));
  const Unit* unit = FindUnit(kDurationUnits, name);
  rest->remove_prefix(name.size());
  if (unit == nullptr || unit->factor >= *previous_factor) {
    return refuse("its units are h, m, s, ms, us and ns, larger ones first");
  }
  *previous_factor = unit->factor;
  const std::optional<int64_t> part = number->Times(unit->factor);
  if (!part) {
    return refuse("it is not a whole number of nanoseconds of 64 bits");
  }
  return *part;
}

}  // namespace

absl::StatusOr<int64_t> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (const auto plain = PlainSpelling(digits)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is not a plain decimal number; write {}{}",
                 Quote(text), negative ? "-" : "", *plain);
  }
  if (!IsDigits(digits)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is not a whole number; write one like 8",
                 Quote(text));
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is too large; write a smaller number",
                 Quote(text));
  }
  return value;
}

absl::StatusOr<int64_t> ParseQuantity(std::string_view text, v1::Quantity quantity) {
  const Kind kind = KindOf(quantity);
  HOUTU_RETURN_IF_ERROR(CheckSpelling(text, kind));
  std::string_view rest = text;
  HOUTU_ASSIGN_OR_RETURN(const Decimal number, TakeDecimal(&rest));
  const Unit* unit = FindUnit(kind.units, rest);
  if (unit == nullptr) {
    return UnknownUnit(text, rest, kind);
  }
  const std::optional<int64_t> value = number.Times(unit->factor);
  if (!value) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is not a whole number of {} of 64 bits; write it like {}", Quote(text),
                 kind.whole, kind.examples);
  }
  return *value;
}

absl::StatusOr<google::protobuf::Duration> ParseDuration(std::string_view text) {
  if (IsDigits(text) && !PlainSpelling(text)) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} has no unit; write {}s, if seconds are meant", Quote(text),
                 text.substr(0, 40));
  }
  Int128 nanos = 0;
  int64_t previous_factor = std::numeric_limits<int64_t>::max();
  std::string_view rest = text;
  do {
    HOUTU_ASSIGN_OR_RETURN(const int64_t part, TakeDurationPart(text, &rest, &previous_factor));
    nanos += part;
  } while (!rest.empty());
  if (nanos > Int128{kDurationSecondsMax} * kNanosPerSecond) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is too long; write at most {}h",
                 Quote(text), kDurationSecondsMax / 3600);
  }
  google::protobuf::Duration duration;
  duration.set_seconds(static_cast<int64_t>(nanos / kNanosPerSecond));
  duration.set_nanos(static_cast<int32_t>(nanos % kNanosPerSecond));
  return duration;
}

}  // namespace houtu::yaml
