#include "common/yaml/scalar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/duration.pb.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/base/status.h"
#include "common/yaml/field_rules.h"
#include "common/yaml/quantity.h"
#include "common/yaml/suggest.h"

namespace houtu::yaml {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct Range {
  int64_t min = 0;
  int64_t max = 0;
};

// The limits of the field's type, narrowed by its rule.
Range RangeOf(const FieldDescriptor& field) {
  Range range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    range = {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
    range = {0, std::numeric_limits<uint32_t>::max()};
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    range.min = 0;
  }
  const v1::FieldRule& rule = RuleOf(field);
  if (rule.has_min()) {
    range.min = std::max(range.min, rule.min());
  }
  if (rule.max() != 0) {
    range.max = std::min(range.max, rule.max());
  }
  return range;
}

absl::Status CheckRange(int64_t value, const std::string& text, const FieldDescriptor& field) {
  const Range range = RangeOf(field);
  const v1::Quantity quantity = RuleOf(field).quantity();
  if (value < range.min) {
    const std::string unit =
        quantity == v1::QUANTITY_BYTES && text == std::to_string(value) ? " bytes" : "";
    return Error(absl::StatusCode::kInvalidArgument,
                 "{}{} is less than the least, {}; write {} or more", Quote(text), unit,
                 WriteAmount(range.min, quantity), WriteAmount(range.min, quantity));
  }
  if (value > range.max) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is more than the most, {}; write {} or less", Quote(text),
                 WriteAmount(range.max, quantity), WriteAmount(range.max, quantity));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadNumber(const Node& node, const FieldDescriptor& field) {
  const v1::Quantity quantity = RuleOf(field).quantity();
  absl::StatusOr<int64_t> value = quantity == v1::QUANTITY_UNSPECIFIED
                                      ? ParseInteger(node.text)
                                      : ParseQuantity(node.text, quantity);
  HOUTU_RETURN_IF_ERROR(value.status());
  if (node.quoted && quantity == v1::QUANTITY_UNSPECIFIED) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is text, because it is in quotes; write {} without quotes", Quote(node.text),
                 *value);
  }
  HOUTU_RETURN_IF_ERROR(CheckRange(*value, node.text, field));
  return value;
}

absl::StatusOr<double> ReadDouble(const Node& node) {
  double value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [rest, error] =
      std::from_chars(node.text.data(), end, value, std::chars_format::fixed);
  const bool digit =
      !node.text.empty() && (node.text[0] == '-' || (node.text[0] >= '0' && node.text[0] <= '9'));
  if (node.quoted || !digit || error != std::errc() || rest != end) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "{} is not a decimal number; write one like 0.5, without quotes",
                 Quote(node.text));
  }
  return value;
}

absl::StatusOr<bool> ReadBool(const Node& node) {
  if (!node.quoted && (node.text == "true" || node.text == "false")) {
    return node.text == "true";
  }
  return Error(absl::StatusCode::kInvalidArgument,
               "{} is not a boolean; write true or false, without quotes", Quote(node.text));
}

absl::StatusOr<int> ReadEnum(const Node& node, const google::protobuf::EnumDescriptor& type) {
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0 && ShortName(*type.value(i)) == node.text) {
      return type.value(i)->number();
    }
  }
  const std::vector<std::string> names = ShortNames(type);
  return Error(absl::StatusCode::kInvalidArgument, "{} is not known here{}; write {}",
               Quote(node.text), DidYouMean(node.text, names), fmt::join(names, ", "));
}

// Sets or appends: the reflection call of one type.
template <typename T, typename Set, typename Append>
absl::Status Store(absl::StatusOr<T> value, const FieldDescriptor& field, Message* out, Set set,
                   Append append) {
  HOUTU_RETURN_IF_ERROR(value.status());
  const google::protobuf::Reflection& reflection = *out->GetReflection();
  if (field.is_repeated()) {
    (reflection.*append)(out, &field, *std::move(value));
  } else {
    (reflection.*set)(out, &field, *std::move(value));
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<T> As(const absl::StatusOr<int64_t>& value) {
  HOUTU_RETURN_IF_ERROR(value.status());
  return static_cast<T>(*value);
}

absl::Status SetDuration(const Node& node, const FieldDescriptor& field, Message* out) {
  HOUTU_ASSIGN_OR_RETURN(const auto duration, ParseDuration(node.text));
  const google::protobuf::Reflection& reflection = *out->GetReflection();
  Message* const target = field.is_repeated() ? reflection.AddMessage(out, &field)
                                              : reflection.MutableMessage(out, &field);
  target->CopyFrom(duration);
  return absl::OkStatus();
}

}  // namespace

absl::Status SetScalar(const Node& node, const FieldDescriptor& field, Message* out) {
  using google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Store(As<int32_t>(ReadNumber(node, field)), field, out, &Reflection::SetInt32,
                   &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return Store(ReadNumber(node, field), field, out, &Reflection::SetInt64,
                   &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Store(As<uint32_t>(ReadNumber(node, field)), field, out, &Reflection::SetUInt32,
                   &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Store(As<uint64_t>(ReadNumber(node, field)), field, out, &Reflection::SetUInt64,
                   &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Store(ReadDouble(node), field, out, &Reflection::SetDouble, &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Store(ReadBool(node), field, out, &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Store(ReadEnum(node, *field.enum_type()), field, out, &Reflection::SetEnumValue,
                   &Reflection::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING:
      return Store(absl::StatusOr<std::string>(node.text), field, out, &Reflection::SetString,
                   &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SetDuration(node, field, out);
    case FieldDescriptor::CPPTYPE_FLOAT:
      break;
  }
  return Error(absl::StatusCode::kInvalidArgument, "{} can't be written in YAML; leave it out",
               field.name());
}

std::string DescribeType(const FieldDescriptor& field) {
  switch (RuleOf(field).quantity()) {
    case v1::QUANTITY_CPU:
      return "an amount of cpu like 500m or 2";
    case v1::QUANTITY_BYTES:
      return "an amount of bytes like 64Mi";
    case v1::QUANTITY_CREDITS:
      return "an amount of credits like 0.10";
    case v1::QUANTITY_UNSPECIFIED:
    case v1::Quantity_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Quantity_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "text";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return fmt::format("one of {}", fmt::join(ShortNames(*field.enum_type()), ", "));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return IsDuration(field) ? "a duration like 90s" : "a mapping (KEY: VALUE lines)";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      break;
  }
  return "a number";
}

}  // namespace houtu::yaml
