// Sets a field that is no message from the text of a scalar.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "common/yaml/document.h"

namespace houtu::yaml {

/// Sets `field` of `out`, or appends to it where it is repeated. Precondition: `node` is a scalar
/// and the field is text, a number, a boolean, an enum or a Duration. INVALID_ARGUMENT: the text
/// does not fit, or breaks the field's least or most; the message says what to write.
absl::Status SetScalar(const Node& node, const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message* out);

/// What a scalar of this field looks like: "a number", "true or false", "one of a, b".
std::string DescribeType(const google::protobuf::FieldDescriptor& field);

}  // namespace houtu::yaml
