// How a message's fields read in YAML: what the binder and the documentation generator share.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

#include "houtu/v1/options.pb.h"

namespace houtu::yaml {

/// The field's rule; the default rule where it has none.
const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field);

/// The field's key: its rule's, else its name.
std::string KeyOf(const google::protobuf::FieldDescriptor& field);

/// The fields that YAML may name, in the schema's order: all but the internal ones.
std::vector<const google::protobuf::FieldDescriptor*> YamlFields(
    const google::protobuf::Descriptor& message);

/// An enum value's short name: "one_to_one" for EXCHANGE_ONE_TO_ONE of Exchange.
std::string ShortName(const google::protobuf::EnumValueDescriptor& value);

/// The short names that may be written: all but the unspecified one (number 0).
std::vector<std::string> ShortNames(const google::protobuf::EnumDescriptor& type);

/// Whether the field holds a google.protobuf.Duration.
bool IsDuration(const google::protobuf::FieldDescriptor& field);

/// An amount as it would be written: "6Mi", "500m", "0.1".
std::string WriteAmount(int64_t amount, v1::Quantity quantity);

}  // namespace houtu::yaml
