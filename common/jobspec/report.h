// Where the validator's checks put their problems.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/problem.h"
#include "common/yaml/source_map.h"

namespace houtu::jobspec {

/// Collects problems and gives each its place. Lives for one Validate.
class Report {
 public:
  /// `places` may be nullptr.
  explicit Report(const yaml::SourceMap* places) : places_(places) {}

  void Add(std::string path, std::string text);

  /// Adds a problem unless `text` is empty: for checks that return what is wrong, or "".
  void AddUnlessEmpty(const std::string& path, std::string text);

  /// "lines 5 and 9", or the two paths where there are no places.
  std::string WhereBoth(std::string_view first, std::string_view second) const;

  /// All, in the order of the file.
  std::vector<yaml::Problem> Take();

 private:
  const yaml::SourceMap* const places_;
  std::vector<yaml::Problem> problems_;
};

}  // namespace houtu::jobspec
