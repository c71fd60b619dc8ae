#include "common/jobspec/dag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace houtu::jobspec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Stage i, named "s<i>", needs those of needs[i].
v1::Job JobOf(const std::vector<std::vector<int>>& needs) {
  v1::Job job;
  for (size_t i = 0; i < needs.size(); ++i) {
    v1::Stage& stage = *job.add_stages();
    stage.set_name("s" + std::to_string(i));
    for (const int needed : needs[i]) {
      stage.add_needs()->set_stage("s" + std::to_string(needed));
    }
  }
  return job;
}

TEST(DagTest, OrdersStagesAfterWhatTheyNeed) {
  const Dag dag(JobOf({{2}, {}, {1}, {1, 0}}));
  EXPECT_THAT(dag.Order(), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(dag.consumers(1), ElementsAre(2, 3));
  EXPECT_THAT(dag.needs(3), ElementsAre(0, 1));
  EXPECT_EQ(dag.Find("s2"), 2);
  EXPECT_EQ(dag.Find("s9"), -1);
  EXPECT_THAT(dag.Circles(), IsEmpty());
}

TEST(DagTest, FindsOneCircleOfEachGroup) {
  const Dag dag(JobOf({{2}, {0}, {1}, {}, {4}, {0, 3}}));
  EXPECT_THAT(dag.Circles(), ElementsAre(ElementsAre(0, 2, 1), ElementsAre(4)));
  EXPECT_THAT(dag.Order(), ElementsAre(3));
}

TEST(DagTest, EitherEveryStageHasItsPlaceOrThereIsACircle) {
  EXPECT_TRUE(rc::check([] {
    const int size = *rc::gen::inRange(1, 12);
    std::vector<std::vector<int>> needs(static_cast<size_t>(size));
    for (auto& of_stage : needs) {
      of_stage =
          *rc::gen::resize(3, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, size)));
    }
    const Dag dag(JobOf(needs));
    const std::vector<int> order = dag.Order();
    RC_ASSERT((order.size() == needs.size()) == dag.Circles().empty());
    std::set<int> done;
    for (const int stage : order) {
      RC_ASSERT(std::includes(done.begin(), done.end(), dag.needs(stage).begin(),
                              dag.needs(stage).end()));
      done.insert(stage);
    }
    for (const std::vector<int>& circle : dag.Circles()) {
      for (size_t i = 0; i < circle.size(); ++i) {
        const std::vector<int>& of_stage = dag.needs(circle[i]);
        RC_ASSERT(std::count(of_stage.begin(), of_stage.end(), circle[(i + 1) % circle.size()]) ==
                  1);
      }
    }
  }));
}

}  // namespace
}  // namespace houtu::jobspec
