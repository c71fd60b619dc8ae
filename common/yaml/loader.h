// The strict YAML loader of job files and configuration. The message's descriptor and its field
// rules (proto/houtu/v1/options.proto) are the only schema. What is accepted:
//   - one document in UTF-8, at most 1 MiB, 32 levels and 100,000 values; no anchors, aliases,
//     tags, merge keys or directives; each key once, and only keys that the message has;
//   - text: any scalar, taken literally ("no" is text). A key without a value (nothing, "~",
//     "null") is always an error: leave the key out, or write "" for an empty text;
//   - numbers: plain decimal, without a sign in front of zero or more digits but "-", no leading
//     zero, no quotes. Quantities and durations (options.proto; "1h30m", "500ms") may be quoted;
//   - booleans: true and false; enum values: their short names in lower case ("one_to_one").
// Nothing is guessed: what is not accepted is a Problem that names the literal and what to write.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/problem.h"
#include "common/yaml/source_map.h"

namespace houtu::yaml {

/// Largest file, in bytes.
inline constexpr size_t kFileBytesMax = 1 << 20;
/// Deepest nesting of lists and mappings.
inline constexpr int kDepthMax = 32;
/// Most keys, values, lists and mappings of a file.
inline constexpr int kNodesMax = 100'000;

struct LoadOptions {
  /// "PATH=VALUE" each, as --set gives them: stages[1].tasks=8 rules over the file. VALUE is taken
  /// literally unless it starts with [, {, " or ', which make it YAML. Lists grow by one at their
  /// end: stages[2] of a list of two.
  std::span<const std::string> overrides = {};
  /// Filled with the places of the message's values, if given.
  SourceMap* places = nullptr;
};

/// Reads `text` into `out` (cleared first). Returns every problem in the file's order; none: `out`
/// is what the text says, with nothing filled in. With problems `out` is not to be used.
std::vector<Problem> LoadYaml(std::string_view text, google::protobuf::Message* out,
                              const LoadOptions& options = {});

/// LoadYaml of a file. One that can't be read, or is larger than kFileBytesMax, is a problem too.
std::vector<Problem> LoadYamlFile(const std::string& path, google::protobuf::Message* out,
                                  const LoadOptions& options = {});

}  // namespace houtu::yaml
