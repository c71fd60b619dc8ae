// A YAML document as a tree of values with their places, before any schema. yaml-cpp's event parser
// reads it (its node API keeps the last of two equal keys and guesses types); this is the one place
// that sees yaml-cpp and its exceptions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/problem.h"
#include "common/yaml/source_map.h"

namespace houtu::yaml {

struct Entry;

/// A value: text, a list, a mapping, or nothing. Owns what it holds.
struct Node {
  enum class Kind {
    kNull,     // nothing, "~" or "null", without quotes
    kScalar,   // text
    kList,     // items
    kMapping,  // entries, in the file's order, each key once
    kRefused,  // an alias, or beyond a limit: already a problem
  };
  Kind kind = Kind::kNull;
  bool quoted = false;  // the scalar stood in quotes, or in a | or > block
  Place place;
  std::string text;
  std::vector<Node> items;
  std::vector<Entry> entries;

  /// The entry's value, or nullptr.
  Node* Find(std::string_view key);
};

struct Entry {
  std::string key;
  Place place;
  Node value;
};

/// Reads the one document of `text` (as CheckText returned it). Adds problems of syntax, of what
/// strict YAML refuses and of limits; `*complete` tells whether the tree holds the whole document,
/// so that "missing" means missing.
Node ParseDocument(std::string_view text, std::vector<Problem>* problems, bool* complete);

}  // namespace houtu::yaml
