#include "common/yaml/suggest.h"

#include <gtest/gtest.h>

namespace houtu::yaml {
namespace {

TEST(SuggestTest, FindsWhatWasMeant) {
  const std::vector<std::string> right = {"command", "needs", "name", "tasks", "timeout"};
  EXPECT_EQ(Nearest("comand", right), "command");
  EXPECT_EQ(Nearest("commnad", right), "command");
  EXPECT_EQ(Nearest("Tasks", right), "tasks");
  EXPECT_EQ(Nearest("need", right), "needs");
  EXPECT_EQ(Nearest("after", right), "");
  EXPECT_EQ(Nearest(std::string(1000, 'x'), right), "");
  EXPECT_EQ(DidYouMean("comand", right), " (did you mean \"command\"?)");
}

}  // namespace
}  // namespace houtu::yaml
