#include "common/jobspec/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/jobspec/limits.h"
#include "tests/common/jobspec/check_file.h"

namespace houtu::jobspec {
namespace {

using ::testing::HasSubstr;
using yaml::kB0;
using yaml::With;

TEST(ValidateTest, AcceptsTheGoodJob) { EXPECT_EQ(CheckFile(kB0), ""); }

TEST(ValidateTest, TellsAllProblemsWithTheirPlaces) {
  EXPECT_EQ(
      CheckFile(R"(version: houtu/v2
name: x
stages:
  - name: a b
    command: [""]
    timeout: 0s
  - name: r
    command: [x]
    needs:
      - stage: mapp
      - {stage: m, exchange: gather}
    tasks: 4
    env: {HOUTU_X: y}
  - {name: m, command: [x]}
output: {stage: n, path: /a/../b}
)"),
      "b0.yaml:1:10: version: \"houtu/v2\" is not known; write houtu/v1\n"
      "b0.yaml:4:11: stages[0].name: \"a b\" is no name; write 1 to 64 letters (a-z, A-Z), "
      "digits, \"-\", \"_\" and \".\", not starting with \"-\" or \".\"\n"
      "b0.yaml:5:5: stages[0].command: names no program; write a list of the program and its "
      "arguments\n"
      "b0.yaml:6:14: stages[0].timeout: is no duration above 0s and at most 87600h; write one "
      "like 90s\n"
      "b0.yaml:10:16: stages[1].needs[0].stage: there is no stage \"mapp\"; write the name of "
      "one of the job's stages\n"
      "b0.yaml:11:30: stages[1].needs[1].exchange: gather brings all to one task, but the "
      "stage has 4 tasks; write tasks: 1, or exchange: broadcast\n"
      "b0.yaml:13:11: stages[1].env.HOUTU_X: \"HOUTU_X\" is set by Houtu itself; write a name "
      "that does not start with HOUTU_\n"
      "b0.yaml:15:1: output: datacenter and path belong together; write both or none\n"
      "b0.yaml:15:17: output.stage: there is no stage \"n\"; write the name of one of the "
      "job's stages\n"
      "b0.yaml:15:26: output.path: \"/a/../b\" has a part \"..\"; write the path without it\n");
}

TEST(ValidateTest, SuggestsTheNearestStage) {
  EXPECT_THAT(CheckFile(With(With(kB0, "name: s1", "name: tokens"), "stage: s1", "stage: tokns")),
              HasSubstr("there is no stage \"tokns\" (did you mean \"tokens\"?)"));
}

// B0 over the wire, with one change.
std::string Check(const std::function<void(v1::Job*)>& change) {
  v1::Job job = B0();
  change(&job);
  return std::string(CheckJob(job).message());
}

TEST(ValidateTest, TakesNothingForGrantedThatComesOverTheWire) {
  const std::pair<std::function<void(v1::Job*)>, const char*> changes[] = {
      {[](v1::Job* j) { j->set_version(""); }, "version: "},
      {[](v1::Job* j) { j->set_name(""); }, "name: "},
      {[](v1::Job* j) { j->set_name("a\nb"); }, "name: "},
      {[](v1::Job* j) { j->set_name(std::string(201, 'n')); }, "name: "},
      {[](v1::Job* j) { j->set_account("a/b"); }, "account: "},
      {[](v1::Job* j) { j->set_bid_microcredits(-1); }, "bid: "},
      {[](v1::Job* j) { j->set_budget_microcredits(-1); }, "budget: "},
      {[](v1::Job* j) { j->set_image("docker:x"); }, "image: "},
      {[](v1::Job* j) { j->mutable_retry()->set_attempts(101); }, "retry.attempts: "},
      {[](v1::Job* j) { j->mutable_retry()->mutable_backoff()->set_nanos(-1); }, "retry.backoff: "},
      {[](v1::Job* j) { j->mutable_checkpoint()->set_mode(v1::CheckpointPolicy::Mode(9)); },
       "checkpoint.mode: "},
      {[](v1::Job* j) { (*j->mutable_env())["A=B"] = "x"; }, "env[\"A=B\"]: "},
      {[](v1::Job* j) { (*j->mutable_env())["A"] = std::string("x\0y", 3); }, "env.A: "},
      {[](v1::Job* j) { j->add_datacenters("a/b"); }, "datacenters[0]: "},
      {[](v1::Job* j) { *j->add_datacenters() = *j->add_datacenters() = "a"; }, "named twice"},
      {[](v1::Job* j) { j->mutable_stages(0)->set_command(0, std::string("\0", 1)); },
       "stages[0].command[0]: "},
      {[](v1::Job* j) { j->mutable_stages(0)->add_command(std::string(200'000, 'x')); },
       "stages[0].command[1]: is 200000 bytes, limit 131071"},
      {[](v1::Job* j) { j->mutable_stages(0)->set_name(".."); }, "stages[0].name: "},
      {[](v1::Job* j) { j->mutable_stages(0)->set_tasks(kTasksMax + 1); }, "stages[0].tasks: "},
      {[](v1::Job* j) { j->mutable_stages(0)->set_tasks(kTasksMax); },
       "stages: have 100001 tasks in all, limit 100000"},
      {[](v1::Job* j) { j->mutable_stages(0)->mutable_resources()->set_cpu_millis(-1); },
       "stages[0].resources.cpu: is out of range; write 1m to 1000"},
      {[](v1::Job* j) { j->mutable_stages(0)->mutable_resources()->set_memory_bytes(4096); },
       "stages[0].resources.memory: is out of range; write 6Mi to 64Ti"},
      {[](v1::Job* j) {
         (*j->mutable_stages(0)->mutable_resources()->mutable_custom())["gpu"] = -1;
       },
       "stages[0].resources.custom.gpu: "},
      {[](v1::Job* j) { j->mutable_stages(0)->mutable_process_time(); },
       "stages[0].process_time: "},
      {[](v1::Job* j) { j->mutable_stages(0)->mutable_grace()->set_seconds(-5); },
       "stages[0].grace: "},
      {[](v1::Job* j) { j->mutable_stages(0)->mutable_timeout()->set_seconds(INT64_MAX); },
       "stages[0].timeout: "},
      {[](v1::Job* j) { j->mutable_stages(0)->set_network(v1::Network(7)); },
       "stages[0].network: "},
      {[](v1::Job* j) { j->mutable_stages(0)->add_outputs("a/b"); }, "stages[0].outputs[0]: "},
      {[](v1::Job* j) { j->mutable_stages(0)->add_inputs()->set_path("/x"); },
       "stages[0].inputs[0].datacenter: "},
      {[](v1::Job* j) { j->mutable_stages(0)->add_inputs(); }, "stands beside inputs"},
      {[](v1::Job* j) { j->mutable_stages(1)->mutable_needs(0)->set_exchange(v1::Exchange(9)); },
       "stages[1].needs[0].exchange: "},
      {[](v1::Job* j) { j->mutable_stages(1)->add_needs()->set_stage("s1"); }, "needed twice"},
      {[](v1::Job* j) {
         j->mutable_stages(1)->mutable_needs(0)->set_exchange(v1::EXCHANGE_ONE_TO_ONE);
       },
       "one_to_one needs as many tasks here (1) as in s1 (2); write tasks: 2"},
      {[](v1::Job* j) { j->mutable_output(); }, "output.stage: "},
      {[](v1::Job* j) { j->mutable_output()->set_node("n1"); }, "output.node: "},
  };
  for (const auto& [change, text] : changes) {
    EXPECT_THAT(Check(change), HasSubstr(text));
  }
}

TEST(ValidateTest, RawDataMustBeReadableWhereTheJobRuns) {
  const auto text = [](const char* residency) {
    return With(
        With(kB0, "tasks: 2",
             std::string("inputs: [{datacenter: dc3, path: /x, residency: ") + residency + "}]"),
        "bid: 0.10", "datacenters: [dc1]");
  };
  EXPECT_THAT(CheckFile(text("datacenter")), HasSubstr("\"dc3\" is not among the job's"));
  EXPECT_EQ(CheckFile(text("anywhere")), "");
}

TEST(ValidateTest, AGatherCantHaveOneTaskForEachInput) {
  EXPECT_THAT(CheckFile(With(kB0, "    needs: [{stage: s1}]\n    tasks: 1\n",
                             "    needs: [{stage: s1, exchange: gather}]\n"
                             "    inputs: [{datacenter: dc1, path: /x}]\n")),
              HasSubstr("the stage has one task for each input"));
}

}  // namespace
}  // namespace houtu::jobspec
