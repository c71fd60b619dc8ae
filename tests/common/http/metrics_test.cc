#include "common/http/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace houtu {
namespace {

using ::testing::HasSubstr;

/// A series of the text format, its labels unescaped: our own parser, that refuses what a scraper
/// would.
struct Series {
  std::string name;
  std::map<std::string, std::string> labels;
  auto operator<=>(const Series&) const = default;
};

/// Reads one line; false: it is not of the format.
bool ParseLine(const std::string& line, Series* out) {
  static const std::regex head("^([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{)?");
  static const std::regex label("^,?([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\n\"])*)\"");
  static const std::regex value("^ [-+0-9.eEInfNa]+$");
  std::smatch match;
  if (!std::regex_search(line, match, head)) return false;
  out->name = match[1];
  std::string rest = match.suffix();
  if (match[2].matched) {
    while (std::regex_search(rest, match, label)) {
      std::string text;
      const std::string raw = match[2];
      for (size_t i = 0; i < raw.size(); ++i) {
        const bool escaped = raw[i] == '\\';
        i += escaped ? 1 : 0;
        text += escaped && raw[i] == 'n' ? '\n' : raw[i];
      }
      out->labels[match[1]] = text;
      rest = match.suffix();
    }
    if (!rest.starts_with('}')) return false;
    rest.erase(0, 1);
  }
  return std::regex_search(rest, match, value);
}

/// All series of a page; fails the test on what does not parse, or comes twice.
std::set<Series> Parse(const std::string& page) {
  std::set<Series> out;
  std::set<std::string> types;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(types.insert(line.substr(7, line.rfind(' ') - 7)).second) << line;
    }
    if (line.starts_with('#')) continue;
    Series series;
    EXPECT_TRUE(ParseLine(line, &series)) << line;
    EXPECT_TRUE(out.insert(series).second) << "twice: " << line;
  }
  return out;
}

TEST(MetricsTest, ALabelWithQuotesBackslashesAndNewlinesReadsBackTheSame) {
  const std::string odd = "a\"b\\c\nx 1";
  Metrics metrics;
  metrics.Counter("houtu_things_total", "Things.", {{"name", odd}}).Increment();
  metrics.Gauge("houtu_level", "Level.", {{"dc", "dc-\"1\""}}).Set(2.5);
  metrics.Histogram("houtu_seconds", "Time.", DurationBounds(), {{"what", odd}}).Observe(0.2);
  const std::string page = metrics.Text();
  EXPECT_THAT(page, ::testing::Not(HasSubstr("\nx 1")));
  const std::set<Series> series = Parse(page);
  EXPECT_TRUE(series.contains({"houtu_things_total", {{"name", odd}}})) << page;
  EXPECT_TRUE(series.contains({"houtu_level", {{"dc", "dc-\"1\""}}})) << page;
  EXPECT_TRUE(series.contains({"houtu_seconds_count", {{"what", odd}}})) << page;
}

TEST(MetricsTest, TheSameFamilyAskedForTwiceIsOneFamily) {
  Metrics metrics;
  metrics.Gauge("houtu_nodes", "Nodes.", {{"state", "ready"}}).Set(1);
  metrics.Gauge("houtu_nodes", "Nodes.", {{"state", "lost"}}).Set(0);
  metrics.Gauge("houtu_nodes", "Nodes.", {{"state", "ready"}}).Increment();
  const std::string page = metrics.Text();
  Parse(page);
  EXPECT_THAT(page, HasSubstr("houtu_nodes{state=\"ready\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("houtu_nodes{state=\"lost\"} 0\n")) << "zero is told too";
}

TEST(MetricsTest, TheVersionIsTold) {
  EXPECT_THAT(Metrics().Text(), HasSubstr("houtu_build_info{version=\""));
}

TEST(MetricsTest, BoundsOfDurationsRise) {
  const std::vector<double> bounds = DurationBounds();
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
}

}  // namespace
}  // namespace houtu
