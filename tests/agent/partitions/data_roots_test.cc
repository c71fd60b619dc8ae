#include "agent/partitions/data_roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "common/base/status.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::houtu::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DataRootsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteText(Data() / "a", "aaa");
    WriteText(folder_.path() / "secret", "s");
  }
  fs::path Data() const { return folder_.path() / "data"; }
  std::string Path(const std::string& name) const { return (Data() / name).native(); }
  std::vector<std::string> List(const std::string& pattern) const {
    const auto files = roots_.List(Path(pattern));
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> names;
    if (files.ok()) {
      for (const v1::InputFile& file : files->files()) {
        names.push_back(fs::path(file.path()).lexically_relative(Data()).native());
      }
    }
    return names;
  }

  const houtu::testing::TempFolder folder_;
  const DataRoots roots_{{Data().native() + "/"}};
};

TEST_F(DataRootsTest, OpensAFileBelowARoot) { EXPECT_TRUE(roots_.Open(Path("a")).ok()); }

TEST_F(DataRootsTest, RefusesWhatIsNotBelowARoot) {
  const std::string beside = Data().native() + "-beside";
  WriteText(fs::path(beside) / "b", "b");
  for (const std::string& path : {(folder_.path() / "secret").native(), beside + "/b",
                                  std::string("a"), std::string(), Data().native()}) {
    const absl::Status status = roots_.Open(path).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << path << ": " << status;
    EXPECT_FALSE(roots_.Covers(path)) << path;
  }
}

TEST_F(DataRootsTest, RefusesAPathThatClimbsOut) {
  const absl::Status status = roots_.Open(Path("../secret")).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

TEST_F(DataRootsTest, RefusesALinkThatLeadsOut) {
  fs::create_symlink(folder_.path() / "secret", Data() / "absolute");
  fs::create_symlink("../secret", Data() / "relative");
  fs::create_directory_symlink(folder_.path(), Data() / "up");
  for (const char* name : {"absolute", "relative", "up/secret"}) {
    const absl::Status status = roots_.Open(Path(name)).status();
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << name << ": " << status;
    EXPECT_THAT(Message(status), HasSubstr("leads out of")) << name;
    const absl::Status listed = roots_.List(Path(name)).status();
    EXPECT_TRUE(absl::IsPermissionDenied(listed)) << name << ": " << listed;
  }
}

TEST_F(DataRootsTest, FollowsALinkThatStaysInside) {
  fs::create_symlink("a", Data() / "link");
  EXPECT_TRUE(roots_.Open(Path("link")).ok());
}

TEST_F(DataRootsTest, RefusesWhatIsNoRegularFile) {
  fs::create_directory(Data() / "folder");
  ASSERT_EQ(mkfifo((Data() / "pipe").c_str(), 0600), 0);
  for (const char* name : {"folder", "pipe"}) {
    const absl::Status status = roots_.Open(Path(name)).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << name << ": " << status;
  }
  EXPECT_TRUE(absl::IsNotFound(roots_.Open(Path("none")).status()));
}

TEST_F(DataRootsTest, ARootOfAllCoversEveryAbsolutePath) {
  const DataRoots all({"/"});
  EXPECT_TRUE(all.Open(Path("a")).ok());
  EXPECT_FALSE(all.Covers("etc/passwd"));
}

TEST_F(DataRootsTest, ExpandsPatternsSortedByPath) {
  WriteText(Data() / "part-2", "22");
  WriteText(Data() / "part-10", "1");
  WriteText(Data() / "deep/x/part-1", "1");
  WriteText(Data() / "deep/y/part-1", "1");
  EXPECT_THAT(List("part-*"), ElementsAre("part-10", "part-2"));
  EXPECT_THAT(List("part-[0-9]"), ElementsAre("part-2"));
  EXPECT_THAT(List("deep/?/part-*"), ElementsAre("deep/x/part-1", "deep/y/part-1"));
  EXPECT_THAT(List("a"), ElementsAre("a"));
}

TEST_F(DataRootsTest, TellsSizesAndTimes) {
  const auto files = roots_.List(Path("a"));
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->files_size(), 1);
  EXPECT_EQ(files->files(0).size_bytes(), 3);
  EXPECT_GT(files->files(0).modified_at_ms(), 1'000'000'000'000);
}

TEST_F(DataRootsTest, NothingThatMatchesIsNoError) {
  EXPECT_THAT(List("none-*"), IsEmpty());
  EXPECT_THAT(List("none/*"), IsEmpty());
  EXPECT_THAT(List("a/*"), IsEmpty());
}

TEST_F(DataRootsTest, FoldersAndHiddenFilesMatchNoStar) {
  fs::create_directory(Data() / "folder");
  WriteText(Data() / ".hidden", "h");
  EXPECT_THAT(List("*"), ElementsAre("a"));
  EXPECT_THAT(List(".*"), ElementsAre(".hidden"));
}

TEST_F(DataRootsTest, OddNamesAreKeptAsTheyAre) {
  const std::string odd = "x \t\"'\\ $(y)\n\xc3\xa9";
  WriteText(Data() / odd, "o");
  EXPECT_THAT(List("x*"), ElementsAre(odd));
}

TEST_F(DataRootsTest, AMatchingNameThatIsNotUtf8IsTold) {
  WriteText(Data() / "x\xff", "o");
  EXPECT_TRUE(absl::IsInvalidArgument(roots_.List(Path("x*")).status()));
  EXPECT_THAT(List("a*"), ElementsAre("a")) << "what does not match is no matter";
}

}  // namespace
}  // namespace houtu::agent
