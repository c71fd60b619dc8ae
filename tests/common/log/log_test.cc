#include "common/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace houtu {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// What one event writes to standard error.
std::string Written(const std::function<void()>& log) {
  ::testing::internal::CaptureStderr();
  log();
  return ::testing::internal::GetCapturedStderr();
}

TEST(LogTest, PlainValuesStandAsTheyAreAndOthersAreQuoted) {
  EXPECT_EQ(LogValue("dc1.2.3"), "dc1.2.3");
  EXPECT_EQ(LogValue("größe"), "größe");
  EXPECT_EQ(LogValue(""), "\"\"");
  EXPECT_EQ(LogValue("a b"), "\"a b\"");
  EXPECT_EQ(LogValue("a=b"), "\"a=b\"");
  EXPECT_EQ(LogValue("say \"x\""), "\"say \\\"x\\\"\"");
  EXPECT_EQ(LogValue("a\\b"), "\"a\\\\b\"");
  EXPECT_EQ(LogValue("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(LogValue(std::string("\0\x1b[2J\r\t\x7f", 8)), "\"\\x00\\x1b[2J\\x0d\\x09\\x7f\"");
}

TEST(LogTest, AnEventIsOneLineWhateverItsValuesHold) {
  InitLogging("test", "info");
  const std::string line = Written([] {
    LogInfo("job accepted",
            {{"job", "a\"b\\c\nx 1"}, {"tasks", 3}, {"status", absl::NotFoundError("no\njob")}});
  });
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr("Z info test \"job accepted\" job=\"a\\\"b\\\\c\\nx 1\" tasks=3"));
  EXPECT_THAT(line, EndsWith("status=\"NOT_FOUND: no\\njob\"\n"));
}

TEST(LogTest, PercentSignsAndBracesAreText) {
  const std::string line = Written([] { LogWarning("100%d {}", {{"path", "{0}%v"}}); });
  EXPECT_THAT(line, HasSubstr("\"100%d {}\" path={0}%v"));
}

TEST(LogTest, OnlyTheLevelAndAboveIsWritten) {
  InitLogging("test", "warning");
  EXPECT_EQ(Written([] { LogInfo("quiet"); }), "");
  EXPECT_THAT(Written([] { LogWarning("loud"); }), HasSubstr("warning test loud"));
  InitLogging("test", "nonsense");
  EXPECT_NE(Written([] { LogInfo("heard"); }), "");
  EXPECT_EQ(Written([] { LogDebug("quiet"); }), "");
  InitLogging("test", "debug");
  EXPECT_NE(Written([] { LogDebug("heard"); }), "");
}

}  // namespace
}  // namespace houtu
