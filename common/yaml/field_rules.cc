#include "common/yaml/field_rules.h"

#include <google/protobuf/duration.pb.h>

#include <algorithm>

#include "common/base/resources.h"

namespace houtu::yaml {
namespace {

constexpr int64_t kMicrosPerCredit = 1'000'000;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// "CheckpointPolicyMode" -> "checkpoint_policy_mode".
std::string SnakeCase(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (IsUpper(c) && !out.empty()) {
      out += '_';
    }
    out += Lower(c);
  }
  return out;
}

std::string WriteCredits(int64_t micros) {
  std::string out = std::to_string(micros / kMicrosPerCredit);
  if (micros % kMicrosPerCredit != 0) {
    std::string fraction = std::to_string(kMicrosPerCredit + micros % kMicrosPerCredit).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += "." + fraction;
  }
  return out;
}

}  // namespace

const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field) {
  return field.options().GetExtension(v1::yaml);
}

std::string KeyOf(const google::protobuf::FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  return rule.key().empty() ? field.name() : rule.key();
}

std::vector<const google::protobuf::FieldDescriptor*> YamlFields(
    const google::protobuf::Descriptor& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  for (int i = 0; i < message.field_count(); ++i) {
    if (!RuleOf(*message.field(i)).internal()) {
      fields.push_back(message.field(i));
    }
  }
  return fields;
}

std::string ShortName(const google::protobuf::EnumValueDescriptor& value) {
  std::string name = value.name();
  std::transform(name.begin(), name.end(), name.begin(), Lower);
  const std::string prefix = SnakeCase(value.type()->name()) + "_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::vector<std::string> ShortNames(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) {
      names.push_back(ShortName(*type.value(i)));
    }
  }
  return names;
}

bool IsDuration(const google::protobuf::FieldDescriptor& field) {
  return field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type()->full_name() == google::protobuf::Duration::descriptor()->full_name();
}

std::string WriteAmount(int64_t amount, v1::Quantity quantity) {
  switch (quantity) {
    case v1::QUANTITY_CPU:
      return DescribeCpu(amount);
    case v1::QUANTITY_BYTES:
      return DescribeBytes(amount);
    case v1::QUANTITY_CREDITS:
      return WriteCredits(amount);
    case v1::QUANTITY_UNSPECIFIED:
    case v1::Quantity_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Quantity_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return std::to_string(amount);
}

}  // namespace houtu::yaml
