#include "common/yaml/binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/status.h"
#include "common/yaml/field_rules.h"
#include "common/yaml/path.h"
#include "common/yaml/scalar.h"
#include "common/yaml/suggest.h"

namespace houtu::yaml {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* FindField(const google::protobuf::Descriptor& message,
                                 std::string_view key) {
  for (const FieldDescriptor* field : YamlFields(message)) {
    if (KeyOf(*field) == key) {
      return field;
    }
  }
  return nullptr;
}

std::vector<std::string> Keys(const google::protobuf::Descriptor& message) {
  std::vector<std::string> keys;
  for (const FieldDescriptor* field : YamlFields(message)) {
    keys.push_back(KeyOf(*field));
  }
  return keys;
}

bool IsContainer(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(field);
}

std::string_view DescribeKind(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kNull:
      return "has no value";
    case Node::Kind::kScalar:
      return "is text";
    case Node::Kind::kList:
      return "is a list";
    case Node::Kind::kMapping:
      return "is a mapping";
    case Node::Kind::kRefused:
      break;
  }
  return "is refused";
}

std::string Expected(Node::Kind kind, const FieldDescriptor& field) {
  if (field.is_map()) {
    return "a mapping (NAME: VALUE lines)";
  }
  return kind == Node::Kind::kList ? "a list, like [a, b]" : DescribeType(field);
}

}  // namespace

void Binder::Add(Place place, const std::string& path, std::string text) {
  if (place.line == 0) {
    text += " (given by --set)";
  }
  problems_->push_back(
      {.line = place.line, .column = place.column, .path = path, .text = std::move(text)});
}

void Binder::Note(const std::string& path, Place place) {
  if (places_ != nullptr) {
    places_->Set(path, place);
  }
}

bool Binder::CheckKind(const Node& node, Node::Kind kind, const std::string& path,
                       const Field& field) {
  if (node.kind == kind) {
    return true;
  }
  if (node.kind == Node::Kind::kNull) {
    Add(node.place, path,
        fmt::format("has no value; write {}, or leave the key out", Expected(kind, field)));
  } else if (node.kind != Node::Kind::kRefused) {
    Add(node.place, path,
        fmt::format("{}; write {}", DescribeKind(node.kind), Expected(kind, field)));
  }
  return false;
}

void Binder::BindMessage(const Node& node, const std::string& path, Message* out) {
  for (const Entry& entry : node.entries) {
    BindEntry(entry, path, out);
  }
  CheckRequired(node, path, *out);
}

void Binder::BindEntry(const Entry& entry, const std::string& path, Message* out) {
  const std::string entry_path = KeyPath(path, entry.key);
  const google::protobuf::Descriptor& message = *out->GetDescriptor();
  const FieldDescriptor* field = FindField(message, entry.key);
  if (field == nullptr) {
    const std::vector<std::string> keys = Keys(message);
    const std::string hint = DidYouMean(entry.key, keys);
    Add(entry.place, entry_path,
        hint.empty() ? fmt::format("unknown field; write one of {}", fmt::join(keys, ", "))
                     : "unknown field" + hint);
    return;
  }
  // A null has no text of its own to point at, and a block starts on the next line: both are found
  // where their key is.
  Node::Kind kind = entry.value.kind;
  const bool at_key = kind != Node::Kind::kScalar;
  Note(entry_path, at_key ? entry.place : entry.value.place);
  if (kind == Node::Kind::kNull) {
    Node null;
    null.place = entry.place;
    BindField(null, entry_path, *field, out);
    return;
  }
  BindField(entry.value, entry_path, *field, out);
}

void Binder::BindField(const Node& node, const std::string& path, const Field& field,
                       Message* out) {
  const google::protobuf::OneofDescriptor* oneof = field.real_containing_oneof();
  if (oneof != nullptr && out->GetReflection()->HasOneof(*out, oneof)) {
    Add(node.place, path,
        fmt::format("stands beside {}; write only one of the two",
                    KeyOf(*out->GetReflection()->GetOneofFieldDescriptor(*out, oneof))));
    return;
  }
  if (field.is_map()) {
    BindMap(node, path, field, out);
  } else if (field.is_repeated()) {
    BindList(node, path, field, out);
  } else {
    BindOne(node, path, field, out);
  }
}

void Binder::BindList(const Node& node, const std::string& path, const Field& field, Message* out) {
  if (!CheckKind(node, Node::Kind::kList, path, field)) {
    return;
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    const std::string item_path = IndexPath(path, i);
    Note(item_path, node.items[i].place);
    BindOne(node.items[i], item_path, field, out);
  }
}

void Binder::BindMap(const Node& node, const std::string& path, const Field& field, Message* out) {
  if (!CheckKind(node, Node::Kind::kMapping, path, field)) {
    return;
  }
  const FieldDescriptor& key_field = *field.message_type()->map_key();
  const FieldDescriptor& value_field = *field.message_type()->map_value();
  for (const Entry& entry : node.entries) {
    const std::string entry_path = KeyPath(path, entry.key);
    Note(entry_path, entry.place);
    Node value = entry.value;
    if (value.kind == Node::Kind::kNull) {
      value.place = entry.place;
    }
    Message* const pair = out->GetReflection()->AddMessage(out, &field);
    Node key;
    key.kind = Node::Kind::kScalar;
    key.text = entry.key;
    if (const absl::Status status = SetScalar(key, key_field, pair); !status.ok()) {
      Add(entry.place, entry_path, houtu::Message(status));
    }
    BindOne(value, entry_path, value_field, pair);
  }
}

void Binder::BindOne(const Node& node, const std::string& path, const Field& field, Message* out) {
  if (IsContainer(field)) {
    BindSubmessage(node, path, field, out);
    return;
  }
  if (!CheckKind(node, Node::Kind::kScalar, path, field)) {
    return;
  }
  if (const absl::Status status = SetScalar(node, field, out); !status.ok()) {
    Add(node.place, path, houtu::Message(status));
  }
}

void Binder::BindSubmessage(const Node& node, const std::string& path, const Field& field,
                            Message* out) {
  const google::protobuf::Reflection& reflection = *out->GetReflection();
  // Also where the value does not fit: the list's later items keep their places.
  Message* const child = field.is_repeated() ? reflection.AddMessage(out, &field)
                                             : reflection.MutableMessage(out, &field);
  if (CheckKind(node, Node::Kind::kMapping, path, field)) {
    BindMessage(node, path, child);
  }
}

void Binder::CheckRequired(const Node& node, const std::string& path, const Message& message) {
  for (const FieldDescriptor* field : YamlFields(*message.GetDescriptor())) {
    const std::string key = KeyOf(*field);
    const bool given = std::any_of(node.entries.begin(), node.entries.end(),
                                   [&key](const Entry& entry) { return entry.key == key; });
    if (RuleOf(*field).required() && !given) {
      Place place = places_ == nullptr || path.empty() ? node.place : places_->Find(path);
      Add(place, KeyPath(path, key),
          fmt::format(
              "is missing; write {}: {}", key,
              Expected(field->is_repeated() ? Node::Kind::kList : Node::Kind::kScalar, *field)));
    }
  }
}

}  // namespace houtu::yaml
