// Files that broke other systems (C01 to C05): what a wrong file is told, and that nothing is
// guessed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

#include "tests/common/yaml/b0.h"

namespace houtu::yaml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(C01, AKeyGivenTwiceIsNamedWithBothLines) {
  const Loaded loaded = Load(With(kB0, "    resources: {cpu: 500m, memory: 64Mi}\n",
                                  "    resources:\n      cpu: 500m\n      memory: 64Mi\n"
                                  "      memory: 512Mi\n"));
  EXPECT_EQ(loaded.text,
            "b0.yaml:10:7: stages[0].resources.memory: given twice, on lines 9 and 10; keep one of "
            "them\n");
}

TEST(C01, AStageKeyGivenTwiceIsNamedByItsStage) {
  const Loaded loaded = Load(With(kB0, "    command: [/bin/true]\n  - name: s2",
                                  "    command: [/bin/true]\n    tasks: 3\n  - name: s2"));
  EXPECT_EQ(loaded.text,
            "b0.yaml:9:5: stages[0].tasks: given twice, on lines 6 and 9; keep one of them\n");
}

TEST(C01, TwoStagesBlocksAreNotMerged) {
  const Loaded loaded =
      Load(std::string(kB0) + "stages:\n  - name: s3\n    command: [/bin/true]\n");
  EXPECT_EQ(loaded.text,
            "b0.yaml:14:1: stages: given twice, on lines 4 and 14; keep one of them\n");
}

TEST(C01, AKeyInOtherCaseIsUnknownAndNoTwin) {
  const Loaded loaded =
      Load(With(kB0, "{cpu: 500m, memory: 64Mi}", "{cpu: 500m, memory: 64Mi, Memory: 1Gi}"));
  EXPECT_EQ(loaded.text,
            "b0.yaml:7:42: stages[0].resources.Memory: unknown field (did you mean \"memory\"?)\n");
}

struct Literal {
  const char* written;
  const char* to_write;
};

class C02 : public testing::TestWithParam<Literal> {};

TEST_P(C02, ANumberThatStartsWithZeroIsRefusedWithWhatToWrite) {
  const auto [written, to_write] = GetParam();
  const Loaded loaded = Load(With(kB0, "tasks: 2", std::string("tasks: ") + written));
  EXPECT_THAT(loaded.text, AllOf(StartsWith("b0.yaml:6:12: stages[0].tasks: "),
                                 HasSubstr(std::string("write ") + to_write)));
}

INSTANTIATE_TEST_SUITE_P(Literals, C02,
                         testing::Values(Literal{"010", "10"}, Literal{"\"010\"", "10"},
                                         Literal{"09", "9"}, Literal{"0o10", "8"},
                                         Literal{"0x10", "16"}));

TEST(C02, TheLiteralIsNamed) {
  EXPECT_EQ(Load(With(kB0, "tasks: 2", "tasks: 0x10")).text,
            "b0.yaml:6:12: stages[0].tasks: \"0x10\" is not a plain decimal number; write 16\n");
  EXPECT_EQ(
      Load(With(kB0, "tasks: 2", "tasks: \"8\"")).text,
      "b0.yaml:6:12: stages[0].tasks: \"8\" is text, because it is in quotes; write 8 without "
      "quotes\n");
}

TEST(C02, AQuantityObeysTheSameRule) {
  EXPECT_THAT(
      Load(With(kB0, "cpu: 500m", "cpu: 010")).text,
      AllOf(HasSubstr("b0.yaml:7:22: stages[0].resources.cpu: \"010\""), HasSubstr("write 10")));
  const Loaded half = Load(With(kB0, "cpu: 500m", "cpu: 0.5"));
  EXPECT_EQ(half.text, "");
  EXPECT_EQ(half.job.stages(0).resources().cpu_millis(), 500);
}

TEST(C02, ZeroTasksAreAccepted) {
  const Loaded loaded = Load(With(kB0, "tasks: 2", "tasks: 0"));
  EXPECT_EQ(loaded.text, "");
  EXPECT_TRUE(loaded.job.stages(0).has_tasks());
}

TEST(C03, GoodSizesAreExact) {
  const std::pair<const char*, int64_t> good[] = {{"1Gi", 1073741824},
                                                  {"1G", 1000000000},
                                                  {"1.5Gi", 1610612736},
                                                  {"64Mi ", 67108864},
                                                  {"8388608", 8388608}};
  for (const auto& [written, bytes] : good) {
    const Loaded loaded =
        Load(With(kB0, "    resources: {cpu: 500m, memory: 64Mi}\n",
                  std::string("    resources:\n      memory: ") + written + "\n      cpu: 500m\n"));
    EXPECT_EQ(loaded.text, "") << written;
    EXPECT_EQ(loaded.job.stages(0).resources().memory_bytes(), bytes) << written;
  }
}

TEST(C03, BadSizesAreRefusedWithTheLiteral) {
  for (const char* written : {"512m", "1gi", "512", "1e3", "1 Gi", "1.5.0Gi", "0"}) {
    const Loaded loaded = Load(With(kB0, "memory: 64Mi", std::string("memory: ") + written));
    ASSERT_EQ(loaded.problems.size(), 1u) << written;
    EXPECT_THAT(loaded.text,
                AllOf(StartsWith("b0.yaml:7:36: stages[0].resources.memory: "),
                      HasSubstr(std::string("\"") + written + "\""), HasSubstr("write ")));
  }
}

TEST(C03, TheTextOffersWhatWasProbablyMeant) {
  EXPECT_THAT(Load(With(kB0, "memory: 64Mi", "memory: 512m")).text, HasSubstr("write 512Mi"));
  EXPECT_THAT(Load(With(kB0, "memory: 64Mi", "memory: 1gi")).text, HasSubstr("write 1Gi"));
  EXPECT_THAT(Load(With(kB0, "memory: 64Mi", "memory: 1 Gi")).text, HasSubstr("write 1Gi"));
  EXPECT_THAT(Load(With(kB0, "memory: 64Mi", "memory: 512")).text,
              HasSubstr("\"512\" bytes is less than the least, 6Mi"));
}

TEST(C03, CpuIsExactAndHasNoBytes) {
  const std::pair<const char*, int64_t> good[] = {{"500m", 500}, {"0.5", 500}, {"1m", 1}};
  for (const auto& [written, millis] : good) {
    const Loaded loaded = Load(With(kB0, "cpu: 500m", std::string("cpu: ") + written));
    EXPECT_EQ(loaded.text, "");
    EXPECT_EQ(loaded.job.stages(0).resources().cpu_millis(), millis);
  }
  EXPECT_THAT(Load(With(kB0, "cpu: 500m", "cpu: 1Gi")).text, HasSubstr("\"1Gi\""));
  EXPECT_THAT(Load(With(kB0, "cpu: 500m", "cpu: 0.5m")).text, HasSubstr("not a whole number"));
}

std::string Crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return out;
}

TEST(C04, AFileFromWindowsIsTheSameJob) {
  const std::string sent = Load(kB0).job.SerializeAsString();
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& text :
       {mark + std::string(kB0), Crlf(kB0), mark + Crlf("---\n" + std::string(kB0))}) {
    const Loaded loaded = Load(text);
    EXPECT_EQ(loaded.text, "");
    EXPECT_EQ(loaded.job.SerializeAsString(), sent);
  }
}

TEST(C04, OtherEncodingsAreNamed) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(Load(mark + mark + std::string(kB0)).text, HasSubstr("second byte order mark"));
  std::string utf16 = "\xFF\xFE";
  for (const char c : kB0) {
    utf16 += std::string{c, '\0'};
  }
  EXPECT_THAT(Load(utf16).text, HasSubstr("not UTF-8 (looks like UTF-16)"));
  EXPECT_THAT(Load(utf16.substr(2)).text, HasSubstr("not UTF-8 (looks like UTF-16)"));
  const std::string latin1 =
      With(kB0, "command: [/bin/true]", "command: [\"/bin/echo\", \"gr\xfc\xdf\"]");
  EXPECT_THAT(Load(latin1).text,
              AllOf(StartsWith("b0.yaml:8:31: "), HasSubstr("not UTF-8 at line 8")));
}

std::string Bomb() {
  std::string text = "command: [/bin/true]\na0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) {
      text += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    }
    text += "]\n";
  }
  return text;
}

int64_t ResidentKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Processor time, so that a busy machine fails no test.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

#ifdef __SANITIZE_ADDRESS__
constexpr int kSanitizerFactor = 10;  // shadow memory and checks
#else
constexpr int kSanitizerFactor = 1;
#endif

// Each in under 2 s and 200 MiB.
void ExpectRefusedQuickly(const std::string& text, const std::string& why) {
  const double start = ProcessorSeconds();
  const Loaded loaded = Load(text);
  EXPECT_LT(ProcessorSeconds() - start, 2.0 * kSanitizerFactor);
  EXPECT_LT(ResidentKib(), 200 * 1024 * kSanitizerFactor);
  EXPECT_THAT(loaded.text, HasSubstr(why));
  EXPECT_LE(loaded.problems.size(), size_t{kProblemsMax} + 1);
}

std::string Repeat(std::string_view unit, size_t bytes) {
  std::string out;
  while (out.size() + unit.size() <= bytes) {
    out += unit;
  }
  return out;
}

TEST(C05, AliasesAreNeverUnfolded) {
  ExpectRefusedQuickly(Bomb(), "aliases (*) are not supported; write the value out");
  ExpectRefusedQuickly(Bomb(), "anchors (&) are not supported");
}

TEST(C05, BottomlessNestingIsRefusedQuickly) {
  ExpectRefusedQuickly(Repeat("[", kFileBytesMax), "brackets are open");
  ExpectRefusedQuickly(Repeat("[", 90'000), "nested deeper than 32 levels");
  ExpectRefusedQuickly(Repeat("- ", kFileBytesMax), "nested deeper than 32 levels");
  ExpectRefusedQuickly(Repeat("? ", kFileBytesMax), "nested deeper than 32 levels");
}

TEST(C05, AMegabyteOfAnythingIsReadQuickly) {
  ExpectRefusedQuickly("[" + Repeat("a,", kFileBytesMax - 2) + "]", "more than 100000 values");
  ExpectRefusedQuickly(Repeat("a: 1\n", kFileBytesMax), "problems in all");
  ExpectRefusedQuickly("stages: [" + Repeat("{},", kFileBytesMax - 10) + "]", "limit");
  ExpectRefusedQuickly("x: \"" + Repeat("\\\"", kFileBytesMax - 5) + "\"", "unknown field");
  ExpectRefusedQuickly(Repeat(" ", kFileBytesMax), "empty");
  ExpectRefusedQuickly(Repeat("#\n", kFileBytesMax), "empty");
  ExpectRefusedQuickly("x: |\n" + Repeat(" a\n", kFileBytesMax - 5), "unknown field");
}

TEST(C10, TextOfAnyKindArrivesAsItIs) {
  const Loaded loaded = Load(With(With(kB0, "name: b0", "name: Mårten's run (3)"),
                                  "stages:", "env: {MSG: \"a\\nb $HOME\"}\nstages:"));
  EXPECT_EQ(loaded.text, "");
  EXPECT_EQ(loaded.job.name(), "Mårten's run (3)");
  EXPECT_EQ(loaded.job.env().at("MSG"), "a\nb $HOME");
}

TEST(C11, AFileOverTheLimitIsTold) {
  const Loaded loaded =
      Load(With(kB0, "stages:", "env: {X: " + std::string(1'100'000, 'x') + "}\nstages:"));
  EXPECT_THAT(loaded.text, HasSubstr("the file is 1.1 MB, limit 1.0 MB"));
}

}  // namespace
}  // namespace houtu::yaml
