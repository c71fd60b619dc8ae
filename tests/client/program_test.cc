// The command line: what is refused before anything is sent, and what is told of it.
#include "client/command/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace houtu::client {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Result {
  ExitStatus exit = ExitStatus::kDone;
  std::string out;
  std::string err;
};

Result RunAs(Program program, const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  Interrupt interrupt;
  const Console console{.out = &out, .err = &err};
  const ExitStatus exit = RunProgram(program, args, console, &interrupt);
  return {exit, out.str(), err.str()};
}

Result Houtu(const std::vector<std::string>& args) { return RunAs(Program::kHoutu, args); }

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : dir_(fs::temp_directory_path() / ("houtu-program-" + NewJobId())) {
    fs::create_directory(dir_);
  }
  ~ProgramTest() override { fs::remove_all(dir_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }

  fs::path dir_;
};

TEST_F(ProgramTest, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"job"},
                                                       {"jib"},
                                                       {"job", "list", "--everything"},
                                                       {"job", "show"},
                                                       {"job", "show", "a", "b"},
                                                       {"job", "list", "-o", "xml"},
                                                       {"job", "list", "--limit", "0"},
                                                       {"job", "wait", "j", "--timeout", "soon"},
                                                       {"job", "wait", "j", "--timeout", "-5s"},
                                                       {"job", "run", "f", "--timeout", "5s"},
                                                       {"job", "logs", "j", "s", "x"},
                                                       {"job", "logs", "j/s/1", "--tail", "few"},
                                                       {"config", "validate", "f", "--kind", "cat"},
                                                       {"completion", "fish"}};
  for (const auto& args : wrong) {
    const Result result = Houtu(args);
    EXPECT_EQ(result.exit, ExitStatus::kBadUsage) << fmt::format("{}", fmt::join(args, " "));
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("--help"));
  }
}

TEST_F(ProgramTest, TellsABadCommandLineAsJsonToo) {
  const Result result = Houtu({"job", "show", "-o", "json"});
  EXPECT_EQ(result.exit, ExitStatus::kBadUsage);
  EXPECT_THAT(result.err,
              testing::StartsWith(R"({"error":{"code":"INVALID_ARGUMENT","message":")"));
}

TEST_F(ProgramTest, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(Houtu({"--help"}).exit, ExitStatus::kDone);
  EXPECT_THAT(Houtu({"job", "outputs", "--help"}).out, HasSubstr("--to DIR"));
  EXPECT_THAT(RunAs(Program::kSubmit, {"--help"}).out, HasSubstr("--dry-run"));
  EXPECT_EQ(Houtu({"version"}).out, Houtu({"--version"}).out);
  EXPECT_THAT(Houtu({"version", "-o", "json"}).out, HasSubstr(R"("schema":"houtu/v1")"));
}

TEST_F(ProgramTest, TellsEveryProblemOfAFileWithItsPlace) {
  const std::string file = Write("job.yaml",
                                 "version: houtu/v1\n"
                                 "name: b0\n"
                                 "stages:\n"
                                 "  - name: s1\n"
                                 "    tasks: 010\n"
                                 "    comand: [/bin/true]\n"
                                 "    command: [/bin/true]\n");
  const Result result = RunAs(Program::kSubmit, {file});
  EXPECT_EQ(result.exit, ExitStatus::kBadUsage);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(file + ":5:12: stages[0].tasks: "));
  EXPECT_THAT(result.err, HasSubstr(file + ":6:5: stages[0].comand: unknown field"));
  const Result json = Houtu({"job", "validate", file, "-o", "json"});
  EXPECT_THAT(json.err, HasSubstr(R"("line":5,"column":12,"path":"stages[0].tasks")"));
}

TEST_F(ProgramTest, OverridesRuleOverTheFile) {
  const std::string file = Write("job.yaml",
                                 "version: houtu/v1\n"
                                 "name: b0\n"
                                 "stages:\n"
                                 "  - name: s1\n"
                                 "    command: [/bin/true]\n");
  const Result result = Houtu({"job", "run", file, "--dry-run", "-o", "json", "--bid", "0.10",
                               "--set", "stages[0].tasks=7", "--set", "name=other"});
  EXPECT_EQ(result.exit, ExitStatus::kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr(R"("bid_microcredits":"100000")"));
  EXPECT_THAT(result.out, HasSubstr(R"("tasks":7)"));
  EXPECT_THAT(result.out, HasSubstr(R"("name":"other")"));
  EXPECT_EQ(Houtu({"job", "run", file, "--dry-run", "--bid", "cheap"}).exit, ExitStatus::kBadUsage);
}

TEST_F(ProgramTest, AMissingOrOpenConfigurationIsBadUsage) {
  EXPECT_EQ(Houtu({"job", "list", "--config", dir_ / "none.yaml"}).exit, ExitStatus::kBadUsage);
  const std::string file =
      Write("c.yaml", "masters: [a:1]\ntls: {ca: ca, certificate: c, key: k}\n");
  const Result no_key = Houtu({"job", "list", "--config", file});
  EXPECT_EQ(no_key.exit, ExitStatus::kBadUsage);
  EXPECT_THAT(no_key.err, HasSubstr((dir_ / "ca").string()));
  for (const char* name : {"ca", "c", "k"}) {
    Write(name, "x");
    fs::permissions(dir_ / name, fs::perms::all);
  }
  const Result open_key = Houtu({"job", "list", "--config", file});
  EXPECT_EQ(open_key.exit, ExitStatus::kBadUsage);
  EXPECT_THAT(open_key.err, HasSubstr("chmod 600"));
}

TEST_F(ProgramTest, ValidatesConfigurations) {
  const std::string good =
      Write("c.yaml", "masters: ['a:1']\ntls: {ca: ca, certificate: c, key: k}\n");
  EXPECT_EQ(Houtu({"config", "validate", good, "--kind", "client"}).exit, ExitStatus::kDone);
  const Result wrong = Houtu({"config", "validate", good, "--kind", "agent"});
  EXPECT_EQ(wrong.exit, ExitStatus::kBadUsage);
  EXPECT_THAT(wrong.err, HasSubstr("masters: unknown field"));
}

TEST_F(ProgramTest, CompletesEveryCommand) {
  const std::string script = Houtu({"completion", "bash"}).out;
  EXPECT_THAT(script, HasSubstr("'houtu job') echo 'run validate list show wait logs outputs"));
  EXPECT_THAT(script, HasSubstr("'houtu job logs') echo '"));
  const std::string file = Write("completion", script);
  EXPECT_EQ(std::system(("bash -n '" + file + "'").c_str()), 0);
  EXPECT_THAT(Houtu({"completion", "zsh"}).out, testing::StartsWith("#compdef houtu\n"));
}

// The reference is generated: HOUTU_REWRITE=1 writes it anew, the difference is reviewed.
TEST_F(ProgramTest, TheReferenceIsUpToDate) {
  constexpr const char* kFile = "docs/commands.md";
  constexpr std::string_view kMark = "<!-- generated from the programs' own help -->\n\n";
  std::ifstream in(kFile, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t mark = text.find(kMark);
  ASSERT_NE(mark, text.npos) << kFile << " holds the mark";
  const std::string head = text.substr(0, mark + kMark.size());
  const std::string wanted =
      head + Reference({DescribeProgram(Program::kSubmit), DescribeProgram(Program::kHoutu)});
  if (std::getenv("HOUTU_REWRITE") != nullptr) {
    std::ofstream(kFile, std::ios::binary) << wanted;
    return;
  }
  EXPECT_EQ(text, wanted) << "run this test with HOUTU_REWRITE=1";
}

}  // namespace
}  // namespace houtu::client
