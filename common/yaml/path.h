// Key paths, as messages and --set spell them: stages[1].env.MSG, env["two words"].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace houtu::yaml {

/// "parent.key"; a key that is no plain word as parent["key"].
std::string KeyPath(std::string_view parent, std::string_view key);

/// "parent[index]".
std::string IndexPath(std::string_view parent, size_t index);

/// "parent.key[index]": the usual pair.
std::string ItemPath(std::string_view parent, std::string_view key, size_t index);

/// The path that holds `path`: "stages[1]" for "stages[1].tasks"; "" for a top-level key.
std::string_view ParentPath(std::string_view path);

/// One step of a path: a key of a mapping or an index of a list.
using PathStep = std::variant<std::string, size_t>;

/// Takes a path apart. INVALID_ARGUMENT with what is wrong with its spelling.
absl::StatusOr<std::vector<PathStep>> ParsePath(std::string_view path);

}  // namespace houtu::yaml
