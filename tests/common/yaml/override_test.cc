#include "common/yaml/override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/yaml/b0.h"

namespace houtu::yaml {
namespace {

using ::testing::HasSubstr;

Loaded LoadWith(std::vector<std::string> overrides) { return Load(kB0, {.overrides = overrides}); }

TEST(OverrideTest, RulesOverTheFile) {
  const Loaded loaded = LoadWith({"stages[1].tasks=8", "name=no: really", "env.MSG=a=b",
                                  "stages[0].command=[/bin/sh, -c, 'exit 0']",
                                  "stages[2]={name: s3, command: [x]}", "stages[2].timeout=90s"});
  ASSERT_EQ(loaded.text, "");
  EXPECT_EQ(loaded.job.stages(1).tasks(), 8);
  EXPECT_EQ(loaded.job.name(), "no: really");
  EXPECT_EQ(loaded.job.env().at("MSG"), "a=b");
  EXPECT_EQ(loaded.job.stages(0).command_size(), 3);
  EXPECT_EQ(loaded.job.stages(2).timeout().seconds(), 90);
}

TEST(OverrideTest, ObeysTheFilesRules) {
  EXPECT_EQ(LoadWith({"stages[1].tasks=010"}).text,
            "b0.yaml: stages[1].tasks: \"010\" is not a plain decimal number; write 10 (given by "
            "--set)\n");
  EXPECT_THAT(LoadWith({"stages[1].task=1"}).text, HasSubstr("did you mean \"tasks\"?"));
  EXPECT_THAT(LoadWith({"tasks"}).text, HasSubstr("has no \"=\""));
  EXPECT_THAT(LoadWith({"=1"}).text, HasSubstr("the path is empty"));
  EXPECT_THAT(LoadWith({"a..b=1"}).text, HasSubstr("is no path"));
  EXPECT_THAT(LoadWith({"stages[7].tasks=1"}).text, HasSubstr("write [0] to [2]"));
  EXPECT_THAT(LoadWith({"stages.tasks=1"}).text, HasSubstr("is no mapping"));
  EXPECT_THAT(LoadWith({"name={a: b"}).text, HasSubstr("not valid YAML"));
  EXPECT_THAT(LoadWith({"name=[*a]"}).text, HasSubstr("--set"));
}

}  // namespace
}  // namespace houtu::yaml
