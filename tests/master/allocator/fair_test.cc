#include "master/allocator/fair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "master/allocator/node_room.h"

namespace houtu::master {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kMi = int64_t{1} << 20;

Shape Cpu(int64_t millis) { return {millis, 64 * kMi}; }

/// A cluster to be described in a line each.
class FairTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const Resources& capacity, const std::string& rack = "r") {
    fair_.Apply(NodeUp{.node = name, .rack = rack, .capacity = capacity});
  }
  void Job(const std::string& name) { fair_.Apply(JobAdded{.job = name, .order = ++order_}); }
  void Wants(const std::string& job, const Shape& shape, int containers,
             std::map<std::string, int> preferred = {}) {
    fair_.Apply(DemandChanged{
        .job = job, .shape = shape, .containers = containers, .preferred_nodes = preferred});
  }
  /// Decides and commits; the nodes granted, as job@node.
  std::vector<std::string> Run() {
    std::vector<std::string> out;
    plan_ = fair_.Decide(absl::UnixEpoch());
    for (const Grant& grant : plan_.grants) {
      out.push_back(grant.job + "@" + grant.node);
      fair_.Apply(LeaseStarted{.lease = std::to_string(++lease_),
                               .job = grant.job,
                               .node = grant.node,
                               .shape = grant.shape});
    }
    return out;
  }

  FairAllocator fair_;
  Plan plan_;
  int64_t order_ = 0;
  int lease_ = 0;
};

TEST_F(FairTest, GivesEachFreeContainerToTheJobWithTheSmallestShare) {
  Node("n1", {4000, 4096 * kMi});
  Job("a");
  Job("b");
  Wants("a", Cpu(1000), 4);
  Wants("b", Cpu(1000), 4);
  EXPECT_THAT(Run(), ElementsAre("a@n1", "b@n1", "a@n1", "b@n1"));
}

TEST_F(FairTest, LetsAJobThatCameLaterCatchUp) {
  Node("n1", {4000, 4096 * kMi});
  Job("a");
  Wants("a", Cpu(1000), 9);
  Run();
  Job("b");
  Wants("b", Cpu(1000), 9);
  fair_.Apply(LeaseEnded{.lease = "1"});
  fair_.Apply(LeaseEnded{.lease = "2"});
  EXPECT_THAT(Run(), ElementsAre("b@n1", "b@n1"));
}

TEST_F(FairTest, PrefersTheNodeWithTheDataThenItsRack) {
  Node("n1", {1000, 4096 * kMi}, "r1");
  Node("n2", {1000, 4096 * kMi}, "r2");
  Node("n3", {1000, 4096 * kMi}, "r2");
  Job("a");
  Wants("a", Cpu(1000), 2, {{"n3", 2}});
  EXPECT_THAT(Run(), ElementsAre("a@n3", "a@n2"));
}

TEST_F(FairTest, SpreadsOverNodesWhereNothingIsPreferred) {
  Node("n1", {2000, 4096 * kMi});
  Node("n2", {2000, 4096 * kMi});
  Job("a");
  Wants("a", Cpu(1000), 3);
  EXPECT_THAT(Run(), ElementsAre("a@n1", "a@n2", "a@n1"));
}

// C20 (a)
TEST_F(FairTest, NeverLeavesTwoJobsIdleBesideRoomThatFitsOne) {
  Node("n1", {3000, 4096 * kMi});
  Job("x");
  Job("y");
  Wants("x", Cpu(2000), 1);
  Wants("y", Cpu(2000), 1);
  EXPECT_THAT(Run(), ElementsAre("x@n1"));
  ASSERT_THAT(plan_.unserved, SizeIs(1));
  EXPECT_EQ(plan_.unserved[0].job, "y");
  EXPECT_EQ(plan_.unserved[0].reasons[0].code, "no_free_capacity");
  fair_.Apply(DemandChanged{.job = "x", .shape = Cpu(2000), .containers = 0});
  fair_.Apply(LeaseEnded{.lease = "1"});
  EXPECT_THAT(Run(), ElementsAre("y@n1"));
}

// C20 (b), (c)
TEST_F(FairTest, SaysThatNoNodeCanEverHoldADemandUntilOneComes) {
  Node("n1", {4000, 1024 * kMi});
  Job("a");
  Wants("a", {1000, 4096 * kMi}, 1);
  EXPECT_THAT(Run(), IsEmpty());
  ASSERT_THAT(plan_.unserved, SizeIs(1));
  EXPECT_EQ(plan_.unserved[0].reasons[0].code, "no_node_fits");
  EXPECT_EQ(plan_.unserved[0].reasons[0].message, "no node can hold 4Gi of memory (largest: 1Gi)");
  Node("n2", {4000, 8192 * kMi});
  EXPECT_THAT(Run(), ElementsAre("a@n2"));
}

TEST_F(FairTest, AJobThatFitsNowhereDoesNotKeepAnotherWaiting) {
  Node("n1", {2000, 4096 * kMi});
  Job("big");
  Job("small");
  Wants("big", Cpu(3000), 1);
  Wants("small", Cpu(1000), 1);
  EXPECT_THAT(Run(), ElementsAre("small@n1"));
}

// C18
TEST(NodeRoomTest, TenContainersOfATenthFillANodeExactly) {
  NodeRoom room;
  room.Apply(NodeUp{.node = "n", .capacity = {1000, 640 * kMi}});
  std::set<int> held;
  uint64_t random = 1;
  int next = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const bool fits = Cpu(100).FitsIn(room.nodes().at("n").Free());
    ASSERT_EQ(fits, held.size() < 10) << "an eleventh never fits, a tenth always does";
    if (fits && (random >> 33) % 2 == 0) {
      room.Apply(LeaseStarted{.lease = std::to_string(next), .node = "n", .shape = Cpu(100)});
      held.insert(next++);
    } else if (!held.empty()) {
      room.Apply(LeaseEnded{.lease = std::to_string(*held.begin())});
      held.erase(held.begin());
    }
    ASSERT_EQ(room.nodes().at("n").Free().cpu_millis(),
              1000 - 100 * static_cast<int64_t>(held.size()));
  }
  for (const int lease : held) {
    room.Apply(LeaseEnded{.lease = std::to_string(lease)});
  }
  EXPECT_TRUE(Resources(1000, 640 * kMi).FitsIn(room.nodes().at("n").Free()));
}

TEST(FairPropertyTest, NeverGrantsBeyondCapacityOrDemandAndLeavesNoRoomThatFits) {
  EXPECT_TRUE(rc::check([] {
    FairAllocator fair;
    std::map<std::string, Resources> free;
    std::map<std::pair<std::string, Shape>, int> wanted;
    const int nodes = *rc::gen::inRange(1, 5);
    const int jobs = *rc::gen::inRange(1, 6);
    for (int i = 0; i < nodes; ++i) {
      const Resources capacity(*rc::gen::inRange<int64_t>(1, 9) * 500,
                               *rc::gen::inRange<int64_t>(1, 9) * 64 * kMi);
      free["n" + std::to_string(i)] = capacity;
      fair.Apply(NodeUp{.node = "n" + std::to_string(i), .capacity = capacity});
    }
    for (int i = 0; i < jobs; ++i) {
      const std::string job = "j" + std::to_string(i);
      const Shape shape(*rc::gen::inRange<int64_t>(1, 6) * 500,
                        *rc::gen::inRange<int64_t>(1, 6) * 64 * kMi);
      const int count = *rc::gen::inRange(0, 6);
      fair.Apply(JobAdded{.job = job, .order = i});
      fair.Apply(DemandChanged{.job = job, .shape = shape, .containers = count});
      wanted[{job, shape}] = count;
    }
    for (const Grant& grant : fair.Decide(absl::UnixEpoch()).grants) {
      RC_ASSERT(grant.shape.FitsIn(free[grant.node]));
      free[grant.node] -= grant.shape;
      RC_ASSERT(--wanted[std::pair(grant.job, grant.shape)] >= 0);
    }
    for (const auto& [demand, missing] : wanted) {
      for (const auto& [node, room] : free) {
        RC_ASSERT((missing == 0 || !demand.second.FitsIn(room)));
      }
    }
  }));
}

TEST(FairPropertyTest, GivesTheSamePlanWhateverTheOrderOfInsertion) {
  EXPECT_TRUE(rc::check([] {
    const auto build = [](const std::vector<int>& order) {
      FairAllocator fair;
      for (const int i : order) {
        fair.Apply(NodeUp{.node = "n" + std::to_string(i), .capacity = {2000, 640 * kMi}});
      }
      for (const int i : order) {
        const std::string job = "j" + std::to_string(i);
        fair.Apply(JobAdded{.job = job, .order = i});
        fair.Apply(DemandChanged{.job = job, .shape = Cpu(700), .containers = i + 1});
      }
      return fair.Decide(absl::UnixEpoch()).grants;
    };
    RC_ASSERT(build({0, 1, 2, 3}) == build({3, 1, 0, 2}));
  }));
}

}  // namespace
}  // namespace houtu::master
