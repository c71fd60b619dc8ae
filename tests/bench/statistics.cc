#include "tests/bench/statistics.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace houtu::bench {

double Percentile(std::vector<double> values, double percent) {
  HOUTU_CHECK(!values.empty(), "a percentile needs values");
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(1.0, rank)) - 1];
}

double Median(std::vector<double> values) { return Percentile(std::move(values), 50); }

}  // namespace houtu::bench
