// Job files that broke other systems (C04 to C11), where the meaning is wrong and not the spelling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "common/jobspec/canonical.h"
#include "common/jobspec/limits.h"
#include "tests/common/jobspec/check_file.h"

namespace houtu::jobspec {
namespace {

using ::testing::HasSubstr;
using yaml::kB0;
using yaml::With;

std::string Sent(std::string_view text) {
  v1::Job job;
  EXPECT_EQ(CheckFile(text, &job), "");
  Canonicalize(&job);
  return SerializeDeterministic(job);
}

TEST(C04, AFileFromWindowsSendsTheSameBytes) {
  std::string crlf = "\xEF\xBB\xBF---\r\n";
  for (const char c : kB0) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
  }
  EXPECT_EQ(Sent(crlf), Sent(kB0));
}

TEST(C04, TheOrderOfKeysAndVariablesDoesNotChangeTheBytes) {
  const std::string a = With(kB0, "bid: 0.10", "bid: 0.10\nenv: {A: 1, B: 2, C: 3, D: 4}");
  const std::string b = With(kB0, "bid: 0.10", "env: {D: 4, C: 3, B: 2, A: 1}\nbid: 0.1");
  EXPECT_EQ(Sent(a), Sent(b));
}

TEST(C05, TwoHundredThousandArgumentsAreRefusedByTheLimitsName) {
  v1::Job job = B0();
  for (int i = 0; i < 200'000; ++i) {
    job.mutable_stages(0)->add_command("x");
  }
  const std::clock_t start = std::clock();
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("limit"));
  EXPECT_LT(std::clock() - start, 1 * CLOCKS_PER_SEC) << "of processor time";
  job.mutable_stages(0)->mutable_command()->DeleteSubrange(5000, 195'001);
  EXPECT_THAT(std::string(CheckJob(job).message()),
              HasSubstr("stages[0].command: has 5000 arguments, limit 4096"));
}

constexpr std::string_view kCircle = R"(version: houtu/v1
name: circle
stages:
  - {name: a, command: [x], needs: [{stage: c}]}
  - {name: b, command: [x], needs: [{stage: a}]}
  - {name: c, command: [x], needs: [{stage: b}]}
  - {name: d, command: [x]}
)";

TEST(C06, ACircleIsSpelledOut) {
  EXPECT_EQ(CheckFile(kCircle),
            "b0.yaml:4:29: stages[0].needs: the stages need each other in a circle: a -> c -> b -> "
            "a; remove one of these needs\n");
}

TEST(C06, AStageThatNeedsItselfIsACircle) {
  EXPECT_THAT(CheckFile(With(kB0, "    tasks: 2\n", "    needs: [{stage: s1}]\n    tasks: 2\n")),
              HasSubstr("s1 -> s1;"));
}

TEST(C06, ACircleOverTheWireIsRefusedToo) {
  v1::Job job;
  CheckFile(kCircle, &job);
  EXPECT_EQ(CheckJob(job).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("a -> c -> b -> a"));
}

TEST(C07, TwoStagesOfOneNameAreNamedWithBothLines) {
  const std::string text =
      With(With(kB0, "name: s2", "name: s1"), "    needs: [{stage: s1}]\n", "");
  EXPECT_EQ(CheckFile(text),
            "b0.yaml:9:11: stages[1].name: stage name s1 used on lines 5 and 9; rename one of "
            "them\n");
}

TEST(C07, NamesThatDifferInCaseAreTwo) {
  EXPECT_EQ(CheckFile(With(kB0, "name: s2", "name: S1")), "");
}

TEST(C07, NamesWithTwoSpellingsAreRefused) {
  EXPECT_THAT(CheckFile(With(kB0, "name: s2", "name: \xC3\xA9")), HasSubstr("letters (a-z, A-Z)"));
  EXPECT_THAT(CheckFile(With(kB0, "name: s2", "name: e\xCC\x81")), HasSubstr("letters (a-z, A-Z)"));
}

TEST(C08, ZeroTasksAreGoodAndLessAreNot) {
  EXPECT_EQ(CheckFile(With(kB0, "tasks: 2", "tasks: 0")), "");
  EXPECT_THAT(CheckFile(With(kB0, "tasks: 2", "tasks: -1")),
              HasSubstr("stages[0].tasks: \"-1\" is less than the least, 0"));
  v1::Job job = B0();
  job.mutable_stages(0)->set_tasks(-1);
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("stages[0].tasks: -1 is out of"));
}

TEST(C08, AJobWithoutStagesIsRefused) {
  EXPECT_EQ(CheckFile("version: houtu/v1\nname: x\nstages: []\n"),
            "b0.yaml:3:1: stages: no stages; write at least one\n");
  EXPECT_THAT(std::string(CheckJob(v1::Job()).message()), HasSubstr("no stages"));
}

TEST(C09, TenThousandTasksInOneStageAreAccepted) {
  EXPECT_EQ(CheckFile(With(With(kB0, "tasks: 2", "tasks: 10000"), "name: s2",
                           "name: " + std::string(60, 'w'))),
            "");
}

TEST(C10, NamesThatPeopleReallyUseAreAccepted) {
  for (const char* name : {"two words.csv", "it's.csv", "a(1).csv", "ü.csv", "-n", "x;touch y"}) {
    v1::Job job = B0();
    job.set_name("Mårten's run (3)");
    (*job.mutable_env())["MSG"] = "a\nb $HOME";
    job.mutable_stages(0)->clear_tasks();
    v1::Input& input = *job.mutable_stages(0)->add_inputs();
    input.set_datacenter("dc1");
    input.set_path(std::string("/data/") + name);
    EXPECT_TRUE(CheckJob(job).ok()) << CheckJob(job);
  }
}

TEST(C11, AJobTooBigForItsRecordIsToldItsSize) {
  v1::Job job = B0();
  (*job.mutable_env())["X"] = std::string(1'100'000, 'x');
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("job is 1.1 MB, limit 0.4 MB"));
  job = B0();
  for (int i = 0; i < 3000; ++i) {
    (*job.mutable_env())["X" + std::to_string(i)] = std::string(400, 'x');
  }
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("job is 1.2 MB, limit 0.4 MB"));
}

TEST(C11, TheSizeThatCountsIsTheStoredOne) {
  v1::Job job = B0();
  job.set_image("oci:/" + std::string(200, 'i') + "/" + std::string(200, 'i'));
  while (job.stages_size() < kStagesMax) {
    v1::Stage& stage = *job.add_stages();
    stage = job.stages(0);
    stage.set_name("n" + std::to_string(job.stages_size()));
  }
  EXPECT_LT(job.ByteSizeLong(), kJobBytesMax);
  EXPECT_THAT(std::string(CheckJob(job).message()), HasSubstr("job is 0.5 MB, limit 0.4 MB"));
}

}  // namespace
}  // namespace houtu::jobspec
