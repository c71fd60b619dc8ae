#include "common/yaml/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "common/yaml/json.h"
#include "houtu/v1/config.pb.h"
#include "tests/common/yaml/b0.h"

namespace houtu::yaml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LoaderTest, ReadsTheGoodJob) {
  const Loaded loaded = Load(kB0);
  ASSERT_EQ(loaded.text, "");
  EXPECT_EQ(loaded.job.bid_microcredits(), 100'000);
  ASSERT_EQ(loaded.job.stages_size(), 2);
  EXPECT_EQ(loaded.job.stages(1).needs(0).stage(), "s1");
  EXPECT_EQ(loaded.job.stages(0).command(0), "/bin/true");
}

TEST(LoaderTest, ReadsEveryKindOfField) {
  const Loaded loaded = Load(R"(version: houtu/v1
name: no
budget: 5000
retry: {attempts: 5, backoff: 1m30s}
checkpoint: {mode: required}
env: {A: y, B: "", "c d": 0x10}
stages:
  - name: map
    inputs:
      - {datacenter: dc1, path: "/data/part-*", split: 64Mi, residency: anywhere}
    command:
      - /bin/sh
      - -c
      - |
        echo a
        echo b
    resources: {cpu: 2, memory: 1Gi, custom: {gpu: 1}}
    network: host
    timeout: 500ms
  - {name: r, command: [x], needs: [{stage: map, exchange: one_to_one}]}
output: {stage: r}
)");
  ASSERT_EQ(loaded.text, "");
  EXPECT_EQ(loaded.job.name(), "no");
  EXPECT_EQ(loaded.job.budget_microcredits(), 5'000'000'000);
  EXPECT_EQ(loaded.job.retry().backoff().seconds(), 90);
  EXPECT_EQ(loaded.job.checkpoint().mode(), v1::CheckpointPolicy::MODE_REQUIRED);
  EXPECT_EQ(loaded.job.env().at("A"), "y");
  EXPECT_EQ(loaded.job.env().at("B"), "");
  EXPECT_EQ(loaded.job.env().at("c d"), "0x10");
  const v1::Stage& map = loaded.job.stages(0);
  EXPECT_EQ(map.inputs(0).split_bytes(), 64 << 20);
  EXPECT_EQ(map.inputs(0).residency(), v1::RESIDENCY_ANYWHERE);
  EXPECT_EQ(map.command(2), "echo a\necho b\n");
  EXPECT_EQ(map.resources().custom().at("gpu"), 1);
  EXPECT_EQ(map.network(), v1::NETWORK_HOST);
  EXPECT_EQ(map.timeout().nanos(), 500'000'000);
  EXPECT_EQ(loaded.job.stages(1).needs(0).exchange(), v1::EXCHANGE_ONE_TO_ONE);
}

TEST(LoaderTest, TellsAllProblemsAtOnceInTheOrderOfTheFile) {
  const Loaded loaded = Load(R"(version: houtu/v1
name:
stages:
  - name: a
    comand: [x]
    network: nonne
    tasks: two
    tasks: 3
  - command: x
bidd: 3
)");
  EXPECT_EQ(
      loaded.text,
      "b0.yaml:2:1: name: has no value; write text, or leave the key out\n"
      "b0.yaml:4:5: stages[0].command: is missing; write command: a list, like [a, b]\n"
      "b0.yaml:5:5: stages[0].comand: unknown field (did you mean \"command\"?)\n"
      "b0.yaml:6:14: stages[0].network: \"nonne\" is not known here (did you mean \"none\"?); "
      "write none, host\n"
      "b0.yaml:7:12: stages[0].tasks: \"two\" is not a whole number; write one like 8\n"
      "b0.yaml:8:5: stages[0].tasks: given twice, on lines 7 and 8; keep one of them\n"
      "b0.yaml:9:5: stages[1].name: is missing; write name: text\n"
      "b0.yaml:9:14: stages[1].command: is text; write a list, like [a, b]\n"
      "b0.yaml:10:1: bidd: unknown field (did you mean \"bid\"?)\n");
}

TEST(LoaderTest, ColumnsCountCharacters) {
  EXPECT_THAT(Load("version: houtu/v1\nname: x\nenv: {ü: 'ä', b: [1]}\nstages: []\n").text,
              HasSubstr("b0.yaml:3:18: env.b: is a list; write text"));
}

TEST(LoaderTest, RefusesWhatStrictYamlLeavesOut) {
  const std::pair<const char*, const char*> refused[] = {
      {"name: &a b0", "anchors (&)"},
      {"name: !!str b0", "tags (!)"},
      {"name: ! b0", "tags (!)"},
      {"name: !x 'b0'", "tags (!)"},
      {"name: *a", "not valid YAML"},
      {"<<: {name: b0}", "merge keys (<<)"},
      {"name: ~", "has no value"},
      {"name: null", "has no value"},
      {"name: [b0]", "is a list; write text"},
      {"name: {b: 0}", "is a mapping; write text"},
      {"? [name]\n: b0", "a key must be text"},
      {": b0", "a key is missing"},
      {"name: b0\x01", "control character U+0001"},
      {"name: b0\rx", "control character U+000D"},
      {"name: b\xEF\xBB\xBF", "second byte order mark"},
      {"name: \"\\ud800\"", "b0.yaml:2:"},
      {"name: b0\n...\n---\nname: b1", "a second document"},
      {"name: b0\n\tbid: 3", "tab"},
      {"name: b0: b1", "not valid YAML"},
      {"name: \"b0", "not valid YAML"},
      {"checkpoint: {mode: Auto}", "write auto, never, required"},
      {"checkpoint: {mode: unspecified}", "is not known here"},
      {"retry: {attempts: 1.0}", "is not a whole number"},
      {"retry: {attempts: +1}", "is not a whole number"},
      {"retry: {attempts: 1_0}", "is not a whole number"},
      {"retry: {attempts: 0}", "is less than the least, 1"},
      {"retry: {attempts: 101}", "is more than the most, 100"},
      {"retry: {attempts: 99999999999999999999}", "too large"},
      {"retry: {backoff: 90}", "has no unit; write 90s"},
      {"bid: -1", "has a sign"},
      {"bid: 0.0000001", "not a whole number of micro-credits"},
  };
  for (const auto& [line, why] : refused) {
    EXPECT_THAT(Load(With(kB0, "name: b0", line)).text, HasSubstr(why)) << line;
  }
  EXPECT_THAT(Load("%YAML 1.2\n---\n" + std::string(kB0)).text, HasSubstr("directives"));
  EXPECT_THAT(Load("").text, HasSubstr("the file is empty"));
  EXPECT_THAT(Load("- a\n").text, HasSubstr("the file is no mapping"));
  EXPECT_THAT(Load(std::string(kB0) + "---\nname: b1\n").text,
              HasSubstr("b0.yaml:15:1: a second document"));
}

TEST(LoaderTest, KeysOfMapsAreUniqueToo) {
  EXPECT_THAT(Load(With(kB0, "bid: 0.10", "env:\n  A: 1\n  A: 2")).text,
              HasSubstr("b0.yaml:5:3: env.A: given twice, on lines 4 and 5"));
}

TEST(LoaderTest, PlacesFollowTheMessage) {
  v1::Job job;
  SourceMap places;
  ASSERT_TRUE(LoadYaml(kB0, &job, {.places = &places}).empty());
  EXPECT_EQ(places.Find("stages[1].resources.cpu"), (Place{12, 22}));
  EXPECT_EQ(places.Find("stages[1]"), (Place{9, 5}));
  EXPECT_EQ(places.Find("stages[0].timeout"), (Place{5, 5})) << "the nearest around it";
  EXPECT_EQ(places.Find("output.stage"), (Place{1, 1}));
}

TEST(LoaderTest, ReadsConfigurationByTheSameRules) {
  v1::ClientConfig config;
  const auto problems =
      LoadYaml("masters: [127.0.0.1:7000]\ntls: {ca: a, certificate: b, kee: c}\n", &config);
  EXPECT_EQ(DescribeAll("c.yaml", problems),
            "c.yaml:2:1: tls.key: is missing; write key: text\n"
            "c.yaml:2:30: tls.kee: unknown field (did you mean \"key\"?)\n");
}

TEST(LoaderTest, FilesThatCantBeReadAreProblems) {
  v1::Job job;
  EXPECT_THAT(DescribeAll("f", LoadYamlFile("/no/such/file", &job)),
              AllOf(HasSubstr("f: can't be opened: No such file"), HasSubstr("name a file")));
  EXPECT_THAT(DescribeAll("f", LoadYamlFile("/tmp", &job)), HasSubstr("Is a directory"));
  const std::string path = testing::TempDir() + "/houtu-yaml-loader-test.yaml";
  std::ofstream(path) << kB0;
  EXPECT_TRUE(LoadYamlFile(path, &job).empty());
  std::ofstream(path) << std::string(3'000'000, '#');
  EXPECT_THAT(DescribeAll("f", LoadYamlFile(path, &job)), HasSubstr("the file is 3.0 MB, limit"));
  std::remove(path.c_str());
}

TEST(JsonTest, KeepsTheSchemasNames) {
  v1::RetryPolicy retry;
  retry.set_attempts(2);
  retry.mutable_backoff()->set_seconds(90);
  EXPECT_EQ(ToJson(retry), R"({"attempts":2,"backoff":"90s"})");
}

}  // namespace
}  // namespace houtu::yaml
