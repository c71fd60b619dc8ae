#include "agent/partitions/line_split.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "agent/partitions/files.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

class LineSplitTest : public ::testing::Test {
 protected:
  /// The pieces of ranges of `length` bytes, "|" between them.
  std::string Split(const std::string& text, int64_t length) const {
    const auto path = folder_.path() / "text";
    houtu::testing::WriteText(path, text);
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string pieces;
    for (int64_t offset = 0; offset < static_cast<int64_t>(text.size()); offset += length) {
      const auto piece = LinesOf(fd.get(), offset, length);
      EXPECT_TRUE(piece.ok()) << piece.status();
      EXPECT_GE(piece->size(), 0);
      pieces += offset == 0 ? "" : "|";
      pieces += text.substr(static_cast<size_t>(piece->begin), static_cast<size_t>(piece->size()));
    }
    return pieces;
  }

  const houtu::testing::TempFolder folder_;
};

TEST_F(LineSplitTest, PiecesEndAtLineEnds) {
  EXPECT_EQ(Split("ab\ncd\nef\n", 4), "ab\ncd\n|ef\n|");
}

TEST_F(LineSplitTest, ALineThatStartsAtARangesFirstByteBelongsToIt) {
  EXPECT_EQ(Split("ab\ncd\n", 3), "ab\n|cd\n");
}

TEST_F(LineSplitTest, ALineLongerThanARangeLeavesEmptyPieces) {
  EXPECT_EQ(Split("abcdefgh\ni\n", 2), "abcdefgh\n||||i\n|");
}

TEST_F(LineSplitTest, ALastLineWithoutAnEndIsKept) { EXPECT_EQ(Split("ab\ncd", 2), "ab\n|cd|"); }

TEST_F(LineSplitTest, ARangeBehindTheEndIsEmpty) {
  const auto path = folder_.path() / "text";
  houtu::testing::WriteText(path, "ab\n");
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto piece = LinesOf(fd.get(), 1000, int64_t{1} << 62);
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_EQ(piece->size(), 0);
}

TEST_F(LineSplitTest, RangesThatFollowEachOtherGiveEveryByteOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(1 + random() % 300, 'x');
    for (char& c : text) {
      c = random() % 8 == 0 ? '\n' : 'x';
    }
    std::string pieces = Split(text, 1 + random() % 40);
    std::erase(pieces, '|');
    ASSERT_EQ(pieces, text) << "round " << round;
  }
}

}  // namespace
}  // namespace houtu::agent
