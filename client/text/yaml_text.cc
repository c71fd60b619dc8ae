#include "client/text/yaml_text.h"

#include <yaml-cpp/yaml.h>

namespace houtu::client {
namespace {

/// yaml-cpp gives quoted scalars this tag, plain ones "?".
constexpr const char* kQuotedTag = "!";

void Write(const YAML::Node& node, YAML::Emitter* out) {
  if (node.IsMap() && node.size() > 0) {
    *out << YAML::BeginMap;
    for (const auto& entry : node) {
      *out << YAML::Key;
      const std::string& key = entry.first.Scalar();
      const bool plain =
          !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
      *out << (plain ? YAML::Auto : YAML::DoubleQuoted) << key << YAML::Value;
      Write(entry.second, out);
    }
    *out << YAML::EndMap;
  } else if (node.IsSequence() && node.size() > 0) {
    *out << YAML::BeginSeq;
    for (const auto& item : node) {
      Write(item, out);
    }
    *out << YAML::EndSeq;
  } else if (node.IsMap()) {
    *out << YAML::Flow << YAML::BeginMap << YAML::EndMap;
  } else if (node.IsSequence()) {
    *out << YAML::Flow << YAML::BeginSeq << YAML::EndSeq;
  } else if (node.IsNull()) {
    *out << YAML::Null;
  } else {
    *out << (node.Tag() == kQuotedTag ? YAML::DoubleQuoted : YAML::Auto) << node.Scalar();
  }
}

}  // namespace

std::string JsonToYaml(std::string_view json) {
  YAML::Emitter out;
  Write(YAML::Load(std::string(json)), &out);
  return std::string(out.c_str()) + "\n";
}

}  // namespace houtu::client
