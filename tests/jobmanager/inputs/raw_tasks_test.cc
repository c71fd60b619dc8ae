#include "jobmanager/inputs/raw_tasks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <string>

#include "common/base/status.h"
#include "jobmanager/core/limits.h"

namespace houtu::jobmanager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

v1::Input InputOf(const std::string& path, int64_t split_bytes = 0) {
  v1::Input input;
  input.set_datacenter("dc1");
  input.set_path(path);
  if (split_bytes > 0) {
    input.set_split_bytes(split_bytes);
  }
  return input;
}

void AddFile(v1::InputFiles* files, const std::string& path, int64_t size_bytes,
             const std::string& node = "n1", int64_t modified_at_ms = 1) {
  v1::InputFile& file = *files->add_files();
  file.set_path(path);
  file.set_size_bytes(size_bytes);
  file.set_modified_at_ms(modified_at_ms);
  file.set_node(node);
  file.set_agent_address(node + ":7000");
}

// "<node>:<path>", with " <offset>+<length>" where it is a piece.
std::vector<std::string> Described(const absl::StatusOr<std::vector<v1::RawInput>>& tasks) {
  if (!tasks.ok()) {
    return {tasks.status().ToString()};
  }
  std::vector<std::string> out;
  for (const v1::RawInput& raw : *tasks) {
    out.push_back(raw.node() + ":" + raw.path());
    if (raw.has_length_bytes()) {
      out.back() += fmt::format(" {}+{}", raw.offset_bytes(), raw.length_bytes());
    }
  }
  return out;
}

TEST(RawTasksTest, KnowsAPattern) {
  EXPECT_TRUE(IsPattern("/data/*.txt"));
  EXPECT_TRUE(IsPattern("/data/part-?"));
  EXPECT_TRUE(IsPattern("/data/part-[0-9]"));
  EXPECT_FALSE(IsPattern("/data/part-0]"));
  EXPECT_FALSE(IsPattern(""));
}

TEST(RawTasksTest, AFileIsOneTaskThatSaysWhereItLies) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", 100);
  const auto tasks = RawTasks(InputOf("/data/a"), files);
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  ASSERT_THAT(*tasks, SizeIs(1));
  const v1::RawInput& raw = tasks->front();
  EXPECT_EQ(raw.datacenter(), "dc1");
  EXPECT_EQ(raw.node(), "n1");
  EXPECT_EQ(raw.agent_address(), "n1:7000");
  EXPECT_EQ(raw.path(), "/data/a");
  EXPECT_EQ(raw.offset_bytes(), 0);
  EXPECT_FALSE(raw.has_length_bytes()) << "the whole file";
}

TEST(RawTasksTest, RawBytesStayInTheirDatacenterUnlessTheInputSaysOtherwise) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", 100);
  v1::Input input = InputOf("/data/a");
  const auto residency = [&] { return RawTasks(input, files)->front().residency(); };
  EXPECT_EQ(residency(), v1::RESIDENCY_DATACENTER);
  input.set_residency(v1::RESIDENCY_DATACENTER);
  EXPECT_EQ(residency(), v1::RESIDENCY_DATACENTER);
  input.set_residency(v1::RESIDENCY_ANYWHERE);
  EXPECT_EQ(residency(), v1::RESIDENCY_ANYWHERE);
}

TEST(RawTasksTest, FilesAreOrderedByPathHoweverTheyAreListed) {
  v1::InputFiles files;
  for (const char* path : {"/data/b", "/data/a10", "/data/a2", "/data/B", "/data/\xc3\xa4"}) {
    AddFile(&files, path, 1);
  }
  EXPECT_THAT(
      Described(RawTasks(InputOf("/data/*"), files)),
      ElementsAre("n1:/data/B", "n1:/data/a10", "n1:/data/a2", "n1:/data/b", "n1:/data/\xc3\xa4"));
}

TEST(RawTasksTest, CutsAFileIntoPiecesOfNearlyOneSize) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", 10);
  EXPECT_THAT(Described(RawTasks(InputOf("/data/a", 4), files)),
              ElementsAre("n1:/data/a 0+3", "n1:/data/a 3+3", "n1:/data/a 6+4"));
  EXPECT_THAT(Described(RawTasks(InputOf("/data/a", 5), files)),
              ElementsAre("n1:/data/a 0+5", "n1:/data/a 5+5"));
  EXPECT_THAT(Described(RawTasks(InputOf("/data/a", 9), files)),
              ElementsAre("n1:/data/a 0+5", "n1:/data/a 5+5"));
}

TEST(RawTasksTest, AFileNotLargerThanAPieceIsWhole) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", 10);
  AddFile(&files, "/data/b", 9);
  AddFile(&files, "/data/empty", 0);
  EXPECT_THAT(Described(RawTasks(InputOf("/data/*", 10), files)),
              ElementsAre("n1:/data/a", "n1:/data/b", "n1:/data/empty"));
}

TEST(RawTasksTest, PiecesOfAFileThatLiesOnSeveralNodesGoToThemInTurn) {
  v1::InputFiles files;
  for (const char* node : {"n2", "n1"}) {
    AddFile(&files, "/data/a", 6, node);
    AddFile(&files, "/data/b", 2, node);
  }
  EXPECT_THAT(Described(RawTasks(InputOf("/data/*", 2), files)),
              ElementsAre("n1:/data/a 0+2", "n2:/data/a 2+2", "n1:/data/a 4+2", "n2:/data/b"));
}

TEST(RawTasksTest, OnePathWithDifferentFilesIsRefusedAndTheNodesAreNamed) {
  v1::InputFiles sizes;
  AddFile(&sizes, "/data/a", 6, "n2");
  AddFile(&sizes, "/data/a", 5, "n1");
  const absl::Status status = RawTasks(InputOf("/data/*"), sizes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Message(status),
            "input /data/a in dc1: the file differs between the nodes n1 (5 bytes), n2 (6 bytes); "
            "name one with \"node\"");
  v1::InputFiles times;
  AddFile(&times, "/data/a", 5, "n1", 1);
  AddFile(&times, "/data/a", 5, "n2", 2);
  EXPECT_EQ(RawTasks(InputOf("/data/a"), times).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(RawTasksTest, AFileThatNoNodeHasIsNotFound) {
  v1::Input input = InputOf("/data/a");
  const absl::Status anywhere = RawTasks(input, {}).status();
  EXPECT_EQ(anywhere.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Message(anywhere), "input /data/a in dc1: no node has such a file");
  input.set_node("n7");
  EXPECT_EQ(Message(RawTasks(input, {}).status()),
            "input /data/a in dc1: node n7 has no such file");
}

TEST(RawTasksTest, APatternMayMatchNothing) {
  EXPECT_THAT(Described(RawTasks(InputOf("/data/*"), {})), IsEmpty());
}

// ---- Limits ----------------------------------------------------------------------------------

TEST(RawTasksTest, AsManyPiecesAsAStageMayHaveTasksAreMade) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", kStageTasksMax - 1);
  AddFile(&files, "/data/b", 1);
  EXPECT_THAT(Described(RawTasks(InputOf("/data/*", 1), files)), SizeIs(kStageTasksMax));
}

TEST(RawTasksTest, MorePiecesThanAStageMayHaveTasksAreRefused) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", kStageTasksMax - 1);
  AddFile(&files, "/data/b", 2);
  const absl::Status status = RawTasks(InputOf("/data/*", 1), files).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("raise \"split\""));
}

TEST(RawTasksTest, TheLargestFileIsRefusedWithoutBeingCut) {
  v1::InputFiles files;
  AddFile(&files, "/data/a", INT64_MAX);
  EXPECT_EQ(RawTasks(InputOf("/data/a", 1), files).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Described(RawTasks(InputOf("/data/a", INT64_MAX - 1), files)),
              ElementsAre(fmt::format("n1:/data/a 0+{}", INT64_MAX / 2),
                          fmt::format("n1:/data/a {}+{}", INT64_MAX / 2, INT64_MAX / 2 + 1)));
}

TEST(RawTasksTest, TooManyWholeFilesAreRefusedWithoutTalkOfASplit) {
  v1::InputFiles files;
  for (int i = 0; i <= kStageTasksMax; ++i) {
    AddFile(&files, fmt::format("/data/{}", i), 1);
  }
  const absl::Status status = RawTasks(InputOf("/data/*"), files).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), Not(HasSubstr("split")));
  EXPECT_THAT(Message(status), HasSubstr("name fewer files"));
}

// ---- Whatever the sizes ----------------------------------------------------------------------

TEST(RawTasksTest, PiecesCoverTheFileOnceAndAreNoLargerThanTheSplit) {
  EXPECT_TRUE(rc::check([] {
    const int64_t pieces = *rc::gen::inRange<int64_t>(1, 1000);
    const int64_t split = *rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 100),
                                          rc::gen::inRange<int64_t>(1, INT64_MAX / 1000));
    const int64_t size = split * pieces - *rc::gen::inRange<int64_t>(0, split);
    v1::InputFiles files;
    AddFile(&files, "/data/a", size);
    const auto tasks = RawTasks(InputOf("/data/a", split), files);
    RC_ASSERT(tasks.ok());
    RC_ASSERT(tasks->size() == static_cast<size_t>(pieces));  // no more than needed
    if (pieces == 1) {
      RC_ASSERT(!tasks->front().has_length_bytes());
      return;
    }
    int64_t covered = 0;
    for (const v1::RawInput& raw : *tasks) {
      RC_ASSERT(raw.offset_bytes() == covered);
      RC_ASSERT(raw.length_bytes() <= split);
      RC_ASSERT(raw.length_bytes() - size / pieces >= 0);
      RC_ASSERT(raw.length_bytes() - size / pieces <= 1);
      covered += raw.length_bytes();
    }
    RC_ASSERT(covered == size);
  }));
}

TEST(RawTasksTest, TheOrderOfTheListingDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    std::set<std::pair<int, int>> listed;  // path, node
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
      listed.emplace(*rc::gen::inRange(0, 5), *rc::gen::inRange(0, 3));
    }
    v1::InputFiles files;
    for (const auto& [path, node] : listed) {
      AddFile(&files, fmt::format("/data/{}", path), int64_t{7} * path, fmt::format("n{}", node));
    }
    v1::InputFiles other = files;
    for (int i = 0; i < other.files_size(); ++i) {
      other.mutable_files()->SwapElements(i, *rc::gen::inRange(0, other.files_size()));
    }
    const v1::Input input = InputOf("/data/*", 5);
    RC_ASSERT(Described(RawTasks(input, files)) == Described(RawTasks(input, other)));
  }));
}

}  // namespace
}  // namespace houtu::jobmanager
