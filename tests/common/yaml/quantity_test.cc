#include "common/yaml/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "common/base/status.h"
#include "common/yaml/decimal.h"
#include "common/yaml/field_rules.h"

namespace houtu::yaml {
namespace {

using ::testing::HasSubstr;

int64_t PowerOfTen(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;
  }
  return power;
}

// "12.034" for 12034 with three digits behind the point.
std::string Spell(int64_t digits, int behind) {
  std::string text = std::to_string(digits);
  if (behind == 0) {
    return text;
  }
  if (text.size() <= static_cast<size_t>(behind)) {
    text.insert(0, static_cast<size_t>(behind) + 1 - text.size(), '0');
  }
  return text.insert(text.size() - static_cast<size_t>(behind), ".");
}

struct Suffix {
  const char* text;
  int64_t factor;
};

// What the text means by 128-bit arithmetic; -1: not a whole number of 64 bits.
int64_t Reference(int64_t digits, int behind, int64_t factor) {
  const Int128 product = Int128{digits} * factor;
  const Int128 power = PowerOfTen(behind);
  if (product % power != 0 || product / power > std::numeric_limits<int64_t>::max()) {
    return -1;
  }
  return static_cast<int64_t>(product / power);
}

void CheckAgainstReference(v1::Quantity quantity, const std::vector<Suffix>& suffixes) {
  const bool holds = rc::check([&] {
    const int behind = *rc::gen::inRange(0, 10);
    const auto digits = *rc::gen::inRange<int64_t>(0, 1'000'000'000'000);
    const Suffix suffix = *rc::gen::elementOf(suffixes);
    const auto value = ParseQuantity(Spell(digits, behind) + suffix.text, quantity);
    const int64_t expected = Reference(digits, behind, suffix.factor);
    RC_ASSERT(value.ok() == (expected >= 0));
    RC_ASSERT((!value.ok() || *value == expected));
  });
  EXPECT_TRUE(holds);
}

TEST(QuantityTest, BytesAreExact) {
  CheckAgainstReference(v1::QUANTITY_BYTES, {{"", 1},
                                             {"k", 1'000},
                                             {"M", 1'000'000},
                                             {"G", 1'000'000'000},
                                             {"T", 1'000'000'000'000},
                                             {"Ki", 1024},
                                             {"Mi", 1 << 20},
                                             {"Gi", 1 << 30},
                                             {"Ti", int64_t{1} << 40}});
}

TEST(QuantityTest, CpuIsExact) { CheckAgainstReference(v1::QUANTITY_CPU, {{"", 1000}, {"m", 1}}); }

TEST(QuantityTest, CreditsAreExact) {
  CheckAgainstReference(v1::QUANTITY_CREDITS, {{"", 1'000'000}});
}

TEST(QuantityTest, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([] {
    const auto amount = *rc::gen::inRange<int64_t>(0, std::numeric_limits<int64_t>::max());
    for (const v1::Quantity quantity :
         {v1::QUANTITY_CPU, v1::QUANTITY_BYTES, v1::QUANTITY_CREDITS}) {
      const auto read = ParseQuantity(WriteAmount(amount, quantity), quantity);
      RC_ASSERT((read.ok() || WriteAmount(amount, quantity).size() > 18));
      RC_ASSERT((!read.ok() || *read == amount));
    }
  }));
}

TEST(QuantityTest, NoTextBreaksTheParsers) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    (void)ParseQuantity(text, v1::QUANTITY_BYTES);
    (void)ParseDuration(text);
    (void)ParseInteger(text);
  }));
}

TEST(QuantityTest, HugeNumbersAreRefused) {
  for (const char* text : {"9999999999999999999", "99999999999Ti", "1000000000000000000G",
                           "0.0000000000000000001", "1e3", "1.", ".5", "", " 1", "1 ", "0x1Gi"}) {
    EXPECT_FALSE(ParseQuantity(text, v1::QUANTITY_BYTES).ok()) << text;
  }
  EXPECT_THAT(
      Message(ParseQuantity("0.000000000931322574615478515625Gi", v1::QUANTITY_BYTES).status()),
      HasSubstr("too many digits"))
      << "one byte, but no person writes it so";
}

TEST(IntegerTest, IsPlainDecimal) {
  EXPECT_EQ(*ParseInteger("0"), 0);
  EXPECT_EQ(*ParseInteger("-12"), -12);
  EXPECT_EQ(*ParseInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* text : {"", "-", "--1", "+1", "1.0", "1e3", "01", "-01", "0x1", "1_000", "１"}) {
    EXPECT_FALSE(ParseInteger(text).ok()) << text;
  }
  EXPECT_THAT(Message(ParseInteger("-010").status()), HasSubstr("write -10"));
}

TEST(DurationTest, AddsItsParts) {
  const std::pair<const char*, int64_t> good[] = {
      {"90s", 90'000'000'000},      {"10m", 600'000'000'000}, {"500ms", 500'000'000},
      {"1h30m", 5'400'000'000'000}, {"1.5s", 1'500'000'000},  {"0s", 0},
      {"1m0.25s", 60'250'000'000},  {"3us2ns", 3'002},
  };
  for (const auto& [text, nanos] : good) {
    const auto duration = ParseDuration(text);
    ASSERT_TRUE(duration.ok()) << text;
    EXPECT_EQ(duration->seconds() * 1'000'000'000 + duration->nanos(), nanos) << text;
  }
}

TEST(DurationTest, RefusesWhatIsUnclear) {
  for (const char* text : {"", "90", "1d", "1 s", "-1s", "30m1h", "1s1s", "1h30", "s", "0.5ns",
                           "999999h", "01s", "1S", "9999999999999999999s"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
  EXPECT_THAT(Message(ParseDuration("90").status()), HasSubstr("write 90s"));
}

}  // namespace
}  // namespace houtu::yaml
