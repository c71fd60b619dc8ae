#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/logs/last_lines.h"
#include "client/logs/log_target.h"

namespace houtu::client {
namespace {

absl::StatusOr<LogTarget> Parse(std::vector<std::string> words) { return ParseLogTarget(words); }

TEST(LogTargetTest, IsTakenApartFromItsEnd) {
  EXPECT_EQ(*Parse({"wc"}), (LogTarget{.job = "wc"}));
  EXPECT_EQ(*Parse({"wc/map"}), (LogTarget{.job = "wc", .stage = "map"}));
  EXPECT_EQ(*Parse({"a/b/map/3"}), (LogTarget{.job = "a/b", .stage = "map", .task = 3}));
  EXPECT_EQ(*Parse({"wc/3"}), (LogTarget{.job = "wc", .stage = "3"}));
  EXPECT_EQ(*Parse({"a/b", "map", "0"}), (LogTarget{.job = "a/b", .stage = "map", .task = 0}));
}

TEST(LogTargetTest, RefusesWhatNamesNothing) {
  EXPECT_FALSE(Parse({}).ok());
  EXPECT_FALSE(Parse({"wc/"}).ok());
  EXPECT_FALSE(Parse({"wc", "map", "-1"}).ok());
  EXPECT_FALSE(Parse({"wc", "map", "x"}).ok());
}

TEST(LogTailTest, IsLinesOrBytes) {
  EXPECT_EQ(*ParseLogTail("100"), LogTail{.lines = 100});
  EXPECT_EQ(*ParseLogTail("64Ki"), LogTail{.bytes = 65536});
  EXPECT_EQ(*ParseLogTail("500B"), LogTail{.bytes = 500});
  for (const char* wrong : {"", "0", "-3", "Ki", "1.5Mi", "64kb"}) {
    EXPECT_FALSE(ParseLogTail(wrong).ok()) << wrong;
  }
}

TEST(LastLinesTest, CountsALastLineWithoutItsEnd) {
  LastLines two(2);
  two.Add("a\nb\n");
  two.Add("c");
  EXPECT_EQ(two.Take(), "b\nc");
  LastLines one(1);
  one.Add("a\n\n");
  EXPECT_EQ(one.Take(), "\n");
}

// C23: a line that never ends.
TEST(LastLinesTest, StaysBounded) {
  LastLines lines(1);
  for (int i = 0; i < 64; ++i) {
    lines.Add(std::string(LastLines::kBytesMax / 8, 'x'));
  }
  lines.Add("end\n");
  EXPECT_EQ(lines.Take().size(), LastLines::kBytesMax);
  EXPECT_TRUE(lines.Take().ends_with("xend\n"));
}

}  // namespace
}  // namespace houtu::client
