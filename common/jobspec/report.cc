#include "common/jobspec/report.h"

#include <fmt/format.h>

namespace houtu::jobspec {

void Report::Add(std::string path, std::string text) {
  const yaml::Place place = places_ == nullptr ? yaml::Place{} : places_->Find(path);
  problems_.push_back({.line = place.line,
                       .column = place.column,
                       .path = std::move(path),
                       .text = std::move(text)});
}

void Report::AddUnlessEmpty(const std::string& path, std::string text) {
  if (!text.empty()) {
    Add(path, std::move(text));
  }
}

std::string Report::WhereBoth(std::string_view first, std::string_view second) const {
  const yaml::Place a = places_ == nullptr ? yaml::Place{} : places_->Find(first);
  const yaml::Place b = places_ == nullptr ? yaml::Place{} : places_->Find(second);
  return a.line == 0 || b.line == 0 ? fmt::format("at {} and {}", first, second)
                                    : fmt::format("on lines {} and {}", a.line, b.line);
}

std::vector<yaml::Problem> Report::Take() {
  yaml::SortAndLimit(&problems_);
  return std::move(problems_);
}

}  // namespace houtu::jobspec
