#include "common/base/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

namespace houtu {
namespace {

TEST(IdsTest, JobIdsAreUniqueAndOfTheirForm) {
  std::set<std::string> ids;
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = NewJobId();
    ASSERT_TRUE(IsJobId(id)) << id;
    ASSERT_TRUE(ids.insert(id).second) << id;
  }
}

TEST(IdsTest, JobIdsRiseWithTime) {
  const std::string first = NewJobId();
  const auto start = std::chrono::system_clock::now();
  while (std::chrono::system_clock::now() - start < std::chrono::milliseconds(2)) {
  }
  EXPECT_LT(first, NewJobId());
}

TEST(IdsTest, OtherTextsAreNoJobIds) {
  const std::string good = "j0123456789abcdefghz";
  EXPECT_TRUE(IsJobId(good));
  for (const std::string& bad :
       {std::string(), std::string("j"), "k" + good.substr(1), good + "a", good.substr(1),
        "J" + good.substr(1), "j" + std::string(18, 'a') + "A", "j" + std::string(18, 'a') + "/",
        "j" + std::string(18, 'a') + '\0'}) {
    EXPECT_FALSE(IsJobId(bad)) << bad;
  }
}

TEST(IdsTest, AttemptsReadBackAndNameTheirFolder) {
  const AttemptKey key{.job = "j1", .stage = "map.x", .task = 7, .attempt = 2};
  EXPECT_EQ(KeyOf(ToProto(key)), key);
  EXPECT_EQ(Describe(key), "map.x/7#2");
  EXPECT_EQ(FolderName(key), "map.x.7.2");
}

TEST(IdsTest, AttemptsOfDifferentTasksNeverShareAFolder) {
  // Stage names may hold "." and digits: the last two parts are always numbers.
  const AttemptKey one{.job = "j", .stage = "a.1", .task = 2, .attempt = 3};
  const AttemptKey two{.job = "j", .stage = "a", .task = 1, .attempt = 2};
  EXPECT_NE(FolderName(one), FolderName(two));
}

TEST(IdsTest, AttemptsAreOrderedByJobStageTaskAttempt) {
  const AttemptKey low{.job = "j", .stage = "a", .task = 2, .attempt = 9};
  const AttemptKey high{.job = "j", .stage = "a", .task = 10, .attempt = 1};
  EXPECT_LT(low, high) << "as numbers, not as texts";
}

TEST(IdsTest, HashesAndRandomBytesAreRaw) {
  EXPECT_EQ(Hex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(std::string("\x00\xff\x0a", 3)), "00ff0a");
  EXPECT_EQ(RandomBytes(32).size(), 32u);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
  EXPECT_EQ(RandomBytes(0), "");
}

}  // namespace
}  // namespace houtu
