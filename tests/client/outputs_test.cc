// Fetched files: whole or not there, and never outside of the named folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "client/outputs/output_folder.h"
#include "client/outputs/receiver.h"
#include "common/base/ids.h"

namespace houtu::client {
namespace {

namespace fs = std::filesystem;

v1::OutputFile File(const std::string& stage, const std::string& name, int64_t size) {
  v1::OutputFile file;
  file.set_stage(stage);
  file.set_task(0);
  file.set_attempt(1);
  file.set_name(name);
  file.set_size_bytes(size);
  return file;
}

v1::FileChunk Chunk(const v1::OutputFile& file, const std::string& data,
                    const std::string& content) {
  v1::FileChunk chunk;
  chunk.mutable_header()->set_task(file.task());
  chunk.mutable_header()->set_attempt(file.attempt());
  chunk.mutable_header()->set_name(file.name());
  chunk.mutable_header()->set_size_bytes(file.size_bytes());
  chunk.mutable_header()->set_sha256(Sha256(content));
  chunk.set_data(data);
  chunk.set_last(true);
  return chunk;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OutputsTest : public testing::Test {
 protected:
  OutputsTest() : base_(fs::temp_directory_path() / ("houtu-outputs-" + NewJobId())) {
    fs::create_directory(base_);
    folder_.emplace(*OutputFolder::Open(dir()));
  }
  ~OutputsTest() override { fs::remove_all(base_); }

  std::string dir() const { return base_ / "to"; }
  int FilesBelow() const {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(base_)) {
      files += entry.is_regular_file() ? 1 : 0;
    }
    return files;
  }

  fs::path base_;
  std::optional<OutputFolder> folder_;
};

// C10: names are kept byte for byte.
TEST_F(OutputsTest, KeepsOddNames) {
  for (const std::string name : {"two words.csv", "it's.csv", "-n", "x;touch y", "ü.csv", "a\nb"}) {
    const v1::OutputFile file = File("reduce", name, 2);
    Receiver receiver(&*folder_, {file});
    ASSERT_TRUE(receiver.Take(Chunk(file, "hi", "hi")).ok()) << name;
    EXPECT_TRUE(receiver.Missing().empty());
    EXPECT_EQ(Read(fs::path(dir()) / "reduce/0" / name), "hi");
  }
}

TEST_F(OutputsTest, NeverLeavesTheFolder) {
  for (const std::string name : {"..", ".", "", "../x", "a/b", "/etc/x"}) {
    EXPECT_EQ(folder_->Begin(File("s", name, 0)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
    EXPECT_FALSE(folder_->Begin(File(name, "0", 0)).ok()) << name;
  }
  EXPECT_FALSE(CheckFileName(std::string_view("a\0b", 3)).ok());
  fs::create_directory(base_ / "outside");
  fs::create_directory_symlink(base_ / "outside", fs::path(dir()) / "linked");
  EXPECT_EQ(folder_->Begin(File("linked", "0", 0)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fs::is_empty(base_ / "outside"));
}

// C26: half a file is no result.
TEST_F(OutputsTest, ShowsNoFileThatIsShortOrWrong) {
  const v1::OutputFile file = File("s", "0", 4);
  for (const std::string data : {"abc", "abcx", "abcde"}) {
    Receiver receiver(&*folder_, {file});
    EXPECT_EQ(receiver.Take(Chunk(file, data, "abcd")).code(), absl::StatusCode::kDataLoss) << data;
    EXPECT_EQ(receiver.Missing().size(), 1u);
  }
  {
    Receiver cut(&*folder_, {file});
    v1::FileChunk start = Chunk(file, "ab", "abcd");
    start.set_last(false);
    EXPECT_TRUE(cut.Take(start).ok());
    EXPECT_EQ(FilesBelow(), 1);  // the temporary file
  }
  EXPECT_FALSE(fs::exists(fs::path(dir()) / "s/0/0"));
}

TEST_F(OutputsTest, TakesOnlyWhatWasAskedFor) {
  Receiver receiver(&*folder_, {File("s", "0", 2)});
  const v1::OutputFile other = File("s", "1", 2);
  EXPECT_EQ(receiver.Take(Chunk(other, "hi", "hi")).code(), absl::StatusCode::kInternal);
  v1::FileChunk headless;
  headless.set_data("x");
  EXPECT_EQ(receiver.Take(headless).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(FilesBelow(), 0);
}

}  // namespace
}  // namespace houtu::client
