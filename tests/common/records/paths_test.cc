#include "common/records/paths.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace houtu {
namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

TEST(RecordPathsTest, EveryRecordHasThePathOfTheSchema) {
  const RecordPaths paths;
  EXPECT_EQ(paths.Datacenter("dc1"), "/datacenters/dc1");
  EXPECT_EQ(paths.Job("j1"), "/jobs/j1");
  EXPECT_EQ(paths.State("j1"), "/jobs/j1/state");
  EXPECT_EQ(paths.Status("j1"), "/jobs/j1/status");
  EXPECT_EQ(paths.Running("j1"), "/jobs/j1/running");
  EXPECT_EQ(paths.Cancel("j1"), "/jobs/j1/cancel");
  EXPECT_EQ(paths.Manager("j1", "dc1"), "/jobs/j1/managers/dc1");
  EXPECT_EQ(paths.Stage("j1", "map"), "/jobs/j1/stages/map");
  EXPECT_EQ(paths.Assignment("j1", "map", "dc1", 3), "/jobs/j1/stages/map/a-dc1-3");
  EXPECT_EQ(paths.Finished("j1", "map", "dc1", 0), "/jobs/j1/stages/map/f-dc1-0");
  EXPECT_EQ(paths.Events("j1", "dc1", 12), "/jobs/j1/events-dc1-12");
  EXPECT_EQ(paths.Account("alice"), "/accounts/alice");
  EXPECT_EQ(paths.Active("j1"), "/active/j1");
  EXPECT_EQ(RecordPaths("/test").Active("j1"), "/test/active/j1");
}

TEST(RecordPathsTest, AllChunkNamesReadBack) {
  EXPECT_TRUE(rc::check("whatever the datacenter's name", [] {
    const auto dc = *rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("abz09-_.fae\"1 "))));
    const int number = *rc::gen::inRange(0, 1'000'000'000);
    const RecordPaths paths;
    const std::pair<char, std::string> names[] = {
        {'a', LastPart(paths.Assignment("j", "s", dc, number))},
        {'f', LastPart(paths.Finished("j", "s", dc, number))},
        {'e', LastPart(paths.Events("j", dc, number))}};
    for (const auto& [kind, name] : names) {
      const std::optional<ChunkName> chunk = ParseChunkName(name);
      RC_ASSERT(chunk.has_value());
      RC_ASSERT(chunk->kind == kind);
      RC_ASSERT(chunk->datacenter == dc);
      RC_ASSERT(chunk->number == number);
    }
  }));
}

TEST(RecordPathsTest, OtherNodesAreNoChunks) {
  for (const char* name : {"", "state", "status", "running", "cancel", "managers", "stages", "a-",
                           "a-dc1", "a-dc1-", "a--1", "a-dc1-x", "a-dc1-1x", "b-dc1-1", "events-1",
                           "events-dc1", "f-dc1-99999999999999999999", "a-dc1-+1"}) {
    EXPECT_FALSE(ParseChunkName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace houtu
