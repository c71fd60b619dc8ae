#include "common/yaml/path.h"

#include <gtest/gtest.h>

namespace houtu::yaml {
namespace {

TEST(PathTest, IsSpelledAsPeopleReadIt) {
  EXPECT_EQ(ItemPath("", "stages", 1), "stages[1]");
  EXPECT_EQ(KeyPath("stages[1]", "command"), "stages[1].command");
  EXPECT_EQ(KeyPath("env", "two words"), "env[\"two words\"]");
}

TEST(PathTest, KnowsWhatIsAroundIt) {
  EXPECT_EQ(ParentPath("stages[1].command[2]"), "stages[1].command");
  EXPECT_EQ(ParentPath("stages[1].command"), "stages[1]");
  EXPECT_EQ(ParentPath("env[\"a.b\"]"), "env");
  EXPECT_EQ(ParentPath("name"), "");
}

TEST(PathTest, ComesApartAsItWasBuilt) {
  const auto steps = ParsePath("stages[1].env[\"a b\"]");
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ(*steps, (std::vector<PathStep>{PathStep("stages"), PathStep(size_t{1}), PathStep("env"),
                                           PathStep("a b")}));
  for (const char* bad : {"", ".", "a.", "a..b", "a[", "a[x]", "a[-1]", "a[]", "a[12345678]"}) {
    EXPECT_EQ(ParsePath(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace houtu::yaml
