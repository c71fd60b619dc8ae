// Where in its file each value of a message stood, by key path: so that a check of the message's
// meaning (common/jobspec) can name line and column too.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/btree_map.h"

namespace houtu::yaml {

struct Place {
  int line = 0;    // from 1; 0: not in the file (given by --set)
  int column = 0;  // from 1, in characters
  bool operator==(const Place&) const = default;
};

class SourceMap {
 public:
  void Set(std::string path, Place place) { places_.insert_or_assign(std::move(path), place); }

  /// The place of `path`, or of the nearest path around it that is in the file; {0, 0} where there
  /// is none.
  Place Find(std::string_view path) const;

 private:
  absl::btree_map<std::string, Place> places_;
};

}  // namespace houtu::yaml
