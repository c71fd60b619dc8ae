// Texts made for people: widths, tables, units, and what strangers wrote made harmless.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/text/json_text.h"
#include "client/text/safe_text.h"
#include "client/text/table.h"
#include "client/text/units.h"
#include "client/text/utf8.h"
#include "client/text/yaml_text.h"
#include "common/base/time.h"
#include "houtu/v1/status.pb.h"

namespace houtu::client {
namespace {

TEST(Utf8Test, CountsColumnsNotBytes) {
  EXPECT_EQ(TextWidth("Mårten's run"), 12);
  EXPECT_EQ(TextWidth("后土"), 4);
  EXPECT_EQ(TextWidth("e\u0301"), 1);
  EXPECT_EQ(TextWidth("\xff\xfe"), 2);
  EXPECT_EQ(CutToWidth("后土x", 3), "后");
}

TEST(Utf8Test, RefusesOverlongFormsAndSurrogates) {
  EXPECT_FALSE(NextRune("\xc0\xaf").valid);
  EXPECT_FALSE(NextRune("\xe0\x80\xaf").valid);
  EXPECT_FALSE(NextRune("\xed\xa0\x80").valid);
  EXPECT_FALSE(NextRune("\xf4\x90\x80\x80").valid);
  EXPECT_TRUE(NextRune("\xe5\x90").cut);
}

// C23: escapes are not passed raw to a terminal.
TEST(SafeTextTest, ShowsControlCharactersHarmlessly) {
  SafeTextStream stream;
  EXPECT_EQ(stream.Feed(std::string_view("a\0b\x1b[2Jc\n\td\x7f", 12)),
            "a\\x00b\\x1b[2Jc\n\td\\x7f");
  EXPECT_EQ(stream.Feed("\xc2\x9b\x31m \xe2\x80\xae x"), "\\x9b1m \\u202e x");
  EXPECT_EQ(stream.Feed("\xff ok"), "\\xff ok");
}

TEST(SafeTextTest, KeepsCharactersThatPiecesCut) {
  SafeTextStream stream;
  std::string out;
  for (const char byte : std::string("ü后\r\nx\ry")) {
    out += stream.Feed(std::string(1, byte));
  }
  EXPECT_EQ(out + stream.Finish(), "ü后\nx\\ry");
  EXPECT_EQ(stream.Feed("\xe5\x90"), "");
  EXPECT_EQ(stream.Finish(), "\\xe5\\x90");
}

// C29: a name can't make lines of its own.
TEST(TableTest, AlignsByColumnsAndEscapesNames) {
  Table table({{"NAME"}, {"TASKS", Table::Align::kRight}, {"STATE"}});
  table.Add({"后土", "7", "RUNNING"});
  table.Add({"a\"b\\c\nx 1", "1200", ""});
  EXPECT_EQ(table.Render(1),
            " NAME        TASKS  STATE\n"
            " 后土            7  RUNNING\n"
            " a\"b\\c\\nx 1   1200  -\n");
}

TEST(UnitsTest, RoundsDownToOneDecimal) {
  EXPECT_EQ(HumanBytes(0), "0B");
  EXPECT_EQ(HumanBytes(1023), "1023B");
  EXPECT_EQ(HumanBytes(1536), "1.5Ki");
  EXPECT_EQ(HumanBytes(64 << 20), "64Mi");
  EXPECT_EQ(HumanBytes(INT64_MAX), "7.9Ei");
}

TEST(UnitsTest, ShowsTwoUnitsOfTime) {
  EXPECT_EQ(HumanDuration(absl::Milliseconds(340)), "340ms");
  EXPECT_EQ(HumanDuration(absl::Seconds(185)), "3m05s");
  EXPECT_EQ(HumanDuration(absl::Hours(28)), "1d04h");
  EXPECT_EQ(HumanDuration(absl::Seconds(-3)), "0ms");
  EXPECT_EQ(HumanTime(ToProto(absl::FromUnixSeconds(1796101419))), "2026-12-01 05:03:39Z");
  EXPECT_EQ(HumanTime({}), "");
}

TEST(UnitsTest, ShortensEnumNames) {
  EXPECT_EQ(ShortName(v1::JOB_STATE_CANCELLING), "CANCELLING");
  EXPECT_EQ(ShortName(v1::TaskStatus::STATE_RUNNING), "RUNNING");
  EXPECT_EQ(ShortName(v1::JOB_STATE_UNSPECIFIED), "");
  EXPECT_EQ(ShortName(v1::JobState_descriptor(), 77), "77");
}

TEST(JsonStringTest, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(JsonString("a\"\\\n\x01ü\xff"), "\"a\\\"\\\\\\u000a\\u0001ü\\ufffd\"");
}

TEST(JsonToYamlTest, KeepsOrderAndTypes) {
  EXPECT_EQ(JsonToYaml(R"({"b":"5","a":[1,{"two words":"no"}],"c":{},"d":[],"e":true})"),
            "b: \"5\"\na:\n  - 1\n  - \"two words\": \"no\"\nc: {}\nd: []\ne: true\n");
}

}  // namespace
}  // namespace houtu::client
