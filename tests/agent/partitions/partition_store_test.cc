#include "agent/partitions/partition_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/status.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::houtu::testing::ReadText;
using ::houtu::testing::WriteText;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PartitionStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(Out()); }

  fs::path Root() const { return folder_.path() / "partitions"; }
  fs::path TaskDir() const { return folder_.path() / "task"; }
  fs::path Out() const { return TaskDir() / "out"; }
  fs::path HalfCommitted() const { return Root() / id_.job / ".new-map.3.2"; }

  void Write(const std::string& name, const std::string& text) const {
    WriteText(Out() / name, text);
  }
  absl::StatusOr<std::vector<v1::Partition>> Commit(
      const std::vector<std::string>& declared = {}) const {
    return store_.Commit(id_, TaskDir(), declared);
  }
  /// The commit is refused as the task's fault, and nothing is left of it.
  void ExpectRefused(const std::string& why, const std::vector<std::string>& declared = {}) const {
    const auto committed = Commit(declared);
    ASSERT_TRUE(absl::IsInvalidArgument(committed.status())) << committed.status();
    EXPECT_THAT(Message(committed.status()), HasSubstr(why));
    EXPECT_TRUE(absl::IsNotFound(store_.List(id_).status()));
    EXPECT_FALSE(fs::exists(HalfCommitted()));
  }

  const houtu::testing::TempFolder folder_;
  const PartitionStore store_{Root()};
  const AttemptKey id_{.job = "j1", .stage = "map", .task = 3, .attempt = 2};
};

TEST_F(PartitionStoreTest, CommitsTheFilesSortedByNameWithSizeAndChecksum) {
  Write("1", "one");
  Write("0", "zero!");
  const auto committed = Commit();
  ASSERT_TRUE(committed.ok()) << committed.status();
  ASSERT_THAT(*committed, SizeIs(2));
  EXPECT_EQ((*committed)[0].name(), "0");
  EXPECT_EQ((*committed)[0].size_bytes(), 5);
  const auto files = store_.List(id_);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_THAT(*files, SizeIs(2));
  EXPECT_EQ((*files)[1].name(), "1");
  EXPECT_EQ((*files)[1].attempt(), 2);
  EXPECT_EQ((*files)[1].sha256(), Sha256("one"));
  EXPECT_EQ(ReadText(store_.FolderOf(id_) / "0"), "zero!");
}

TEST_F(PartitionStoreTest, AnAttemptWithoutOutputsIsCommittedAsEmpty) {
  const auto committed = Commit();
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_THAT(*committed, IsEmpty());
  const auto files = store_.List(id_);
  ASSERT_TRUE(files.ok()) << "committed, unlike an attempt that never was: " << files.status();
  EXPECT_THAT(*files, IsEmpty());
}

TEST_F(PartitionStoreTest, ADeclaredOutputThatIsMissingIsTheTasksFailure) {
  Write("0", "zero");
  ExpectRefused("declared output words was not written", {"0", "words"});
}

TEST_F(PartitionStoreTest, TheSameAttemptAgainGivesWhatWasCommitted) {
  Write("0", "zero");
  ASSERT_TRUE(Commit().ok());
  const auto again = Commit();
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_THAT(*again, SizeIs(1));
  EXPECT_EQ((*again)[0].size_bytes(), 4);
}

TEST_F(PartitionStoreTest, WhatAnAgentThatDiedLeftHalfCommittedIsNoResult) {
  WriteText(HalfCommitted() / "0", "half of it");
  EXPECT_TRUE(absl::IsNotFound(store_.List(id_).status()));
  ASSERT_TRUE(store_.RemoveLeftovers().ok());
  EXPECT_FALSE(fs::exists(HalfCommitted()));
}

TEST_F(PartitionStoreTest, AnotherTryOfACommitTakesNothingOfTheHalfCommitted) {
  WriteText(HalfCommitted() / "0", "half of it");
  WriteText(HalfCommitted() / "stray", "x");
  Write("0", "whole");
  const auto committed = Commit();
  ASSERT_TRUE(committed.ok()) << committed.status();
  ASSERT_THAT(*committed, SizeIs(1));
  EXPECT_EQ(ReadText(store_.FolderOf(id_) / "0"), "whole");
}

TEST_F(PartitionStoreTest, RemovingLeftoversKeepsWhatIsCommitted) {
  Write("0", "zero");
  ASSERT_TRUE(Commit().ok());
  ASSERT_TRUE(store_.RemoveLeftovers().ok());
  EXPECT_TRUE(store_.List(id_).ok());
}

TEST_F(PartitionStoreTest, AStoreThatNeverHeldAnythingHasNoLeftovers) {
  EXPECT_TRUE(store_.RemoveLeftovers().ok());
}

TEST_F(PartitionStoreTest, ALinkIsNoOutput) {
  fs::create_symlink("/etc/shadow", Out() / "0");
  ExpectRefused("not a plain file");
}

TEST_F(PartitionStoreTest, AFolderIsNoOutput) {
  fs::create_directory(Out() / "0");
  ExpectRefused("not a plain file");
}

TEST_F(PartitionStoreTest, ANamedPipeIsNoOutputAndKeepsNobodyWaiting) {
  ASSERT_EQ(mkfifo((Out() / "0").c_str(), 0600), 0);
  ExpectRefused("not a plain file");
}

TEST_F(PartitionStoreTest, ATemporaryNameIsNoOutput) {
  Write(".manifest", "mine");
  ExpectRefused("start with a dot");
}

TEST_F(PartitionStoreTest, ANameThatIsNotUtf8IsNoOutput) {
  Write("caf\xe9", "x");
  ExpectRefused("not UTF-8");
}

TEST_F(PartitionStoreTest, TooManyFilesAreNoOutput) {
  for (int i = 0; i <= kOutputFilesMax; ++i) {
    Write(std::to_string(i), "");
  }
  ExpectRefused("more than 10000 output files");
}

TEST_F(PartitionStoreTest, AnOutputFolderReplacedByALinkIsRefused) {
  fs::remove(Out());
  fs::create_directory_symlink("/etc", Out());
  ExpectRefused("replaced its output directory");
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(PartitionStoreTest, AnOutputFolderThatIsGoneIsTheTasksFault) {
  fs::remove(Out());
  ExpectRefused("removed by the task");
}

TEST_F(PartitionStoreTest, CommittedFilesAreTheAgentsAndCantBeWritten) {
  Write("0", "zero");
  if (geteuid() == 0) {
    ASSERT_EQ(chown((Out() / "0").c_str(), 70000, 70000), 0);
  }
  ASSERT_TRUE(Commit().ok());
  struct stat st{};
  ASSERT_EQ(stat((store_.FolderOf(id_) / "0").c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, geteuid());
  EXPECT_EQ(st.st_mode & 0777U, 0444U);
}

TEST_F(PartitionStoreTest, AnOutputThatIsAnothersFileByHardLinkIsCopied) {
  const fs::path input = folder_.path() / "input";
  WriteText(input, "shared");
  fs::permissions(input, fs::perms(0644));
  fs::create_hard_link(input, Out() / "0");
  ASSERT_TRUE(Commit().ok());
  struct stat st{};
  ASSERT_EQ(stat(input.c_str(), &st), 0);
  EXPECT_EQ(st.st_nlink, 1U);
  EXPECT_EQ(st.st_mode & 0777U, 0644U) << "the other name's rights are as they were";
  EXPECT_EQ(ReadText(store_.FolderOf(id_) / "0"), "shared");
}

TEST_F(PartitionStoreTest, ADamagedManifestIsTold) {
  Write("0", "zero");
  ASSERT_TRUE(Commit().ok());
  const fs::path manifest = store_.FolderOf(id_) / ".manifest";
  fs::permissions(manifest, fs::perms::owner_write, fs::perm_options::add);
  for (const char* damage : {"", "\x7f", "\x02\x08"}) {
    WriteText(manifest, damage);
    EXPECT_TRUE(absl::IsDataLoss(store_.List(id_).status())) << store_.List(id_).status();
  }
}

TEST_F(PartitionStoreTest, DiscardedAttemptsAndForgottenJobsAreGone) {
  Write("0", "zero");
  ASSERT_TRUE(Commit().ok());
  ASSERT_TRUE(store_.Discard(id_).ok());
  EXPECT_TRUE(absl::IsNotFound(store_.List(id_).status()));
  EXPECT_TRUE(store_.Discard(id_).ok()) << "again is no error";
  EXPECT_TRUE(store_.Forget(id_.job).ok());
  EXPECT_FALSE(fs::exists(Root() / id_.job));
}

}  // namespace
}  // namespace houtu::agent
