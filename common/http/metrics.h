// Metrics of a daemon, in Prometheus's terms. Prefix houtu_, base units in names, counters end in
// _total, no ids of jobs, tasks or users as labels; label values that are known are exported as 0
// from the start (C29).
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>
#include <vector>

namespace houtu {

/// One registry for the process. Owner: main. Thread-safe; the references returned live as long as
/// it does.
class Metrics {
 public:
  Metrics();

  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const prometheus::Labels& labels = {});
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help,
                           const prometheus::Labels& labels = {});
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const std::vector<double>& bounds,
                                   const prometheus::Labels& labels = {});

  /// The text format that GET /metrics answers.
  std::string Text() const;

 private:
  std::shared_ptr<prometheus::Registry> registry_;
};

/// Bounds for durations from a millisecond to ten minutes, in seconds.
std::vector<double> DurationBounds();

}  // namespace houtu
