// JSON written as YAML, for -o yaml.
#pragma once

#include <string>
#include <string_view>

namespace houtu::client {

/// Block-style YAML of a JSON text, keys in their order, ended by a newline. Text stays text: what
/// was quoted in JSON is quoted in YAML. Precondition: `json` is well-formed.
std::string JsonToYaml(std::string_view json);

}  // namespace houtu::client
