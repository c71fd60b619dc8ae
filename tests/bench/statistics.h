// Figures of repeated measurements.
#pragma once

#include <vector>

namespace houtu::bench {

/// The smallest value that at least `percent` of all values do not exceed (nearest rank); 0 to 100.
/// Precondition: values is not empty.
double Percentile(std::vector<double> values, double percent);

/// The middle value; of an even number the lower middle. Precondition: values is not empty.
double Median(std::vector<double> values);

}  // namespace houtu::bench
