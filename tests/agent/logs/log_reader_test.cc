// What houtu-executor writes, the agent reads: the executor's own writer is compiled in.
#include "agent/logs/log_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "agent/executor/log_writer.h"
#include "agent/partitions/files.h"
#include "tests/agent/images/temp_folder.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;
using ::houtu::testing::WriteText;

constexpr int64_t kLimit = 8192;
constexpr int64_t kHalf = kLimit / 2;

/// `bytes` bytes that tell their place: each is the place modulo a prime.
std::string Pattern(int64_t from, int64_t bytes) {
  std::string text(static_cast<size_t>(bytes), '\0');
  for (int64_t i = 0; i < bytes; ++i) {
    text[static_cast<size_t>(i)] = static_cast<char>('0' + (from + i) % 61);
  }
  return text;
}

class LogReaderTest : public ::testing::Test {
 protected:
  LogReaderTest() : dir_(open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    EXPECT_EQ(writer_.Open(dir_.get(), kLimit), 0);
  }

  LogPaths Paths() const {
    return {.head = folder_.path() / kLogHeadName, .ring = folder_.path() / kLogRingName};
  }
  LogPiece Read(int64_t offset, int64_t bytes) const {
    const absl::StatusOr<LogPiece> piece = ReadLog(Paths(), offset, bytes);
    EXPECT_TRUE(piece.ok()) << piece.status();
    return piece.value_or(LogPiece{});
  }
  int64_t BytesOnDisk() const {
    return static_cast<int64_t>(fs::file_size(Paths().head) + fs::file_size(Paths().ring));
  }

  const houtu::testing::TempFolder folder_;
  const Fd dir_;
  LogWriter writer_;
};

TEST_F(LogReaderTest, AShortLogIsWhole) {
  writer_.Append("one\n");
  writer_.Append("two\n");
  const LogPiece piece = Read(0, 100);
  EXPECT_EQ(piece.data, "one\ntwo\n");
  EXPECT_EQ(piece.total, 8);
  EXPECT_EQ(piece.dropped, 0);
  EXPECT_FALSE(fs::exists(Paths().ring));
}

TEST_F(LogReaderTest, ALogAtItsLimitIsWhole) {
  writer_.Append(Pattern(0, kLimit));
  EXPECT_EQ(Read(0, kLimit).data, Pattern(0, kHalf)) << "a piece never crosses the two files";
  const LogPiece tail = Read(kHalf, kLimit);
  EXPECT_EQ(tail.data, Pattern(kHalf, kHalf));
  EXPECT_EQ(tail.dropped, 0);
}

TEST_F(LogReaderTest, OutputWithoutEndKeepsItsHeadAndItsTailInBoundedSpace) {
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 1000; ++i) {
    writer_.Append(piece);
  }
  writer_.Append("end\n");
  EXPECT_LE(BytesOnDisk(), kLimit + static_cast<int64_t>(kRingHeaderBytes));
  const LogPiece tail = Read(kHalf, kLimit);
  EXPECT_EQ(tail.total, 100'000'004);
  EXPECT_EQ(tail.dropped, 100'000'004 - kLimit);
  EXPECT_EQ(tail.offset, 100'000'004 - kHalf);
  EXPECT_TRUE(tail.data.ends_with("xend\n"));
  EXPECT_EQ(Read(0, 3).data, "xxx");
}

TEST_F(LogReaderTest, EachByteIsAtItsOwnPlaceHoweverItWasWritten) {
  int64_t written = 0;
  for (int64_t piece = 1; written < 40'000; piece = piece * 7 % 5003) {
    writer_.Append(Pattern(written, piece));
    written += piece;
    for (int64_t at = 0; at < written;) {
      const LogPiece got = Read(at, 1000);
      ASSERT_FALSE(got.data.empty()) << at << " of " << written;
      ASSERT_EQ(got.data, Pattern(got.offset, static_cast<int64_t>(got.data.size())));
      at = got.offset + static_cast<int64_t>(got.data.size());
    }
  }
}

TEST_F(LogReaderTest, BytesAreKeptAsTheyAre) {
  const std::string odd("\0\x1b[31m\xff\r\n", 9);
  writer_.Append(odd);
  EXPECT_EQ(Read(0, 100).data, odd);
}

TEST_F(LogReaderTest, AReaderBesideTheWriterNeverSeesAByteInAnothersPlace) {
  std::atomic<bool> done = false;
  std::jthread writing([&] {
    int64_t written = 0;
    for (int i = 0; i < 20'000; ++i) {
      writer_.Append(Pattern(written, 501));
      written += 501;
    }
    done = true;
  });
  int64_t at = 0;
  while (!done) {
    const LogPiece piece = Read(at, 3000);
    ASSERT_GE(piece.offset, at);
    ASSERT_EQ(piece.data, Pattern(piece.offset, static_cast<int64_t>(piece.data.size())));
    at = piece.offset + static_cast<int64_t>(piece.data.size());
  }
}

TEST_F(LogReaderTest, ALogThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(
      ReadLog({.head = folder_.path() / "x", .ring = folder_.path() / "y"}, 0, 1).status()));
}

TEST_F(LogReaderTest, PositionsOutOfRangeGiveNothing) {
  writer_.Append("abc");
  EXPECT_EQ(Read(3, 10).data, "");
  EXPECT_EQ(Read(int64_t{1} << 62, 10).data, "");
  EXPECT_EQ(Read(-5, 10).data, "abc");
}

TEST_F(LogReaderTest, ARingThatItsTaskSpoiltReadsAsTheHeadAlone) {
  writer_.Append(Pattern(0, 3 * kLimit));
  LogRingHeader header;
  header.head_max = static_cast<uint64_t>(kHalf);
  header.ring = uint64_t{1} << 60;
  header.total = uint64_t{1} << 61;
  header.claimed = uint64_t{1} << 62;
  const std::string lie(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const std::string& spoilt : {std::string(), std::string("short"), lie}) {
    WriteText(Paths().ring, spoilt);
    const LogPiece piece = Read(kHalf, 1000);
    EXPECT_EQ(piece.data, "");
    EXPECT_EQ(piece.total, kHalf);
  }
}

TEST_F(LogReaderTest, ARingThatIsALinkOrAPipeIsNotFollowed) {
  writer_.Append("abc");
  fs::create_symlink("/etc/passwd", Paths().ring);
  EXPECT_EQ(Read(3, 100).data, "");
  fs::remove(Paths().ring);
  ASSERT_EQ(mkfifo(Paths().ring.c_str(), 0600), 0);
  EXPECT_EQ(Read(3, 100).data, "");
  fs::remove(Paths().head);
  fs::create_symlink("/etc/passwd", Paths().head);
  EXPECT_FALSE(ReadLog(Paths(), 0, 100).ok());
}

TEST_F(LogReaderTest, TheLastLineIsTheLastThatIsNotBlank) {
  EXPECT_EQ(LastLogLine(Paths()), "");
  writer_.Append("first\nout of luck \n\n");
  EXPECT_EQ(LastLogLine(Paths()), "\"out of luck\"") << "quoted, as in logs";
  writer_.Append(Pattern(0, 2 * kLimit) + "\nthe end\n");
  EXPECT_EQ(LastLogLine(Paths()), "\"the end\"");
}

TEST_F(LogReaderTest, TheLastLinesEscapesAreNotPassedOn) {
  writer_.Append("\x1b[31mred\n");
  EXPECT_EQ(LastLogLine(Paths()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace houtu::agent
