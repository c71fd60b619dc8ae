#include "common/yaml/docgen/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/status.h"
#include "common/yaml/field_rules.h"

namespace houtu::yaml {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string EscapeForTable(char c) {
  if (c == '|') {
    return "\\|";
  }
  return c == '<' ? "&lt;" : std::string(1, c);
}

// A comment as one line: its line breaks are the editor's, not the reader's.
template <typename T>
std::string CommentOf(const T& described) {
  google::protobuf::SourceLocation location;
  if (!described.GetSourceLocation(&location)) {
    return "";
  }
  std::string out;
  for (const char c : location.leading_comments) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) {
      out += EscapeForTable(c);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

bool IsSection(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(field) &&
         !field.is_map();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string NumberType(const FieldDescriptor& field) {
  switch (RuleOf(field).quantity()) {
    case v1::QUANTITY_CPU:
      return "cpu (`500m`, `2`)";
    case v1::QUANTITY_BYTES:
      return "size (`64Mi`, `1G`)";
    case v1::QUANTITY_CREDITS:
      return "credits (`0.10`)";
    case v1::QUANTITY_UNSPECIFIED:
    case v1::Quantity_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Quantity_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return "number";
}

std::string ValueType(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "text";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "`true` or `false`";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "word";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return IsDuration(field) ? "duration (`90s`)"
                               : fmt::format("[{0}](#{1})", field.message_type()->name(),
                                             Lower(field.message_type()->name()));
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      break;
  }
  return NumberType(field);
}

std::string TypeOf(const FieldDescriptor& field) {
  if (field.is_map()) {
    return "mapping, NAME: " + ValueType(*field.message_type()->map_value());
  }
  return (field.is_repeated() ? "list of " : "") + ValueType(field);
}

// "1 to 100", "at least 6Mi"; "" without limits of the field's own.
std::string RangeOf(const FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  const std::string least = WriteAmount(rule.min(), rule.quantity());
  const std::string most = WriteAmount(rule.max(), rule.quantity());
  if (rule.has_min() && rule.max() != 0) {
    return fmt::format(" {} to {}.", least, most);
  }
  if (rule.has_min() && rule.min() != 0) {
    return fmt::format(" At least {}.", least);
  }
  return rule.max() != 0 ? fmt::format(" At most {}.", most) : "";
}

// Each word of an enum with its meaning.
std::string WordsOf(const EnumDescriptor& type) {
  std::string out;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) {
      out += fmt::format("{}`{}`: {}", out.empty() ? "" : "<br>", ShortName(*type.value(i)),
                         CommentOf(*type.value(i)));
    }
  }
  return out;
}

std::string DefaultOf(const FieldDescriptor& field) {
  if (RuleOf(field).required()) {
    return "required";
  }
  const std::string& text = RuleOf(field).default_text();
  return text.empty() ? "" : "`" + text + "`";
}

std::string Row(const FieldDescriptor& field) {
  std::string meaning = CommentOf(field) + RangeOf(field);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    meaning += (meaning.empty() ? "" : "<br>") + WordsOf(*field.enum_type());
  }
  return fmt::format("| `{}` | {} | {} | {} |\n", KeyOf(field), TypeOf(field), DefaultOf(field),
                     meaning);
}

std::string Table(const Descriptor& message) {
  std::string out = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const FieldDescriptor* field : YamlFields(message)) {
    out += Row(*field);
  }
  return out;
}

using Sections = std::vector<const Descriptor*>;

bool Holds(const Sections& sections, const Descriptor* message) {
  return std::find(sections.begin(), sections.end(), message) != sections.end();
}

// Adds `message` and all that it holds, in the order of first mention.
void AddSections(const Descriptor& message, Sections* sections) {
  if (Holds(*sections, &message)) {
    return;
  }
  size_t next = sections->size();
  for (sections->push_back(&message); next < sections->size(); ++next) {
    for (const FieldDescriptor* field : YamlFields(*(*sections)[next])) {
      if (IsSection(*field) && !Holds(*sections, field->message_type())) {
        sections->push_back(field->message_type());
      }
    }
  }
}

std::string Section(const Descriptor& message) {
  const std::string comment = CommentOf(message);
  return fmt::format("## {}\n\n{}{}{}\n", message.name(), comment, comment.empty() ? "" : "\n\n",
                     Table(message));
}

}  // namespace

absl::StatusOr<std::string> FillTemplate(std::string_view text,
                                         const google::protobuf::DescriptorPool& pool) {
  std::string out;
  Sections sections;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with("{{") || !line.ends_with("}}")) {
      out.append(line).append("\n");
      continue;
    }
    const std::string name = "houtu.v1." + std::string(line.substr(2, line.size() - 4));
    const Descriptor* message = pool.FindMessageTypeByName(name);
    if (message == nullptr) {
      return Error(absl::StatusCode::kNotFound, "the schema has no message {}", name);
    }
    size_t next = sections.size();
    for (AddSections(*message, &sections); next < sections.size(); ++next) {
      out += Section(*sections[next]);
    }
  }
  out.erase(out.find_last_not_of('\n') + 1);
  return out + "\n";
}

}  // namespace houtu::yaml
