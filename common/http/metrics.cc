#include "common/http/metrics.h"

#include <prometheus/text_serializer.h>

#include <sstream>

namespace houtu {

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {
  Gauge("houtu_build_info", "Always 1; its labels tell the version.", {{"version", HOUTU_VERSION}})
      .Set(1);
}

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help,
                                      const prometheus::Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help,
                                  const prometheus::Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds,
                                          const prometheus::Labels& labels) {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(*registry_)
      .Add(labels, bounds);
}

std::string Metrics::Text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, registry_->Collect());
  return out.str();
}

std::vector<double> DurationBounds() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
          1,     2.5,    5,     10,   30,    60,   120, 300,  600};
}

}  // namespace houtu
