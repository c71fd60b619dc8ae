// Messages as JSON, for `-o json` and the HTTP pages: the schema's field names, RFC 3339 times,
// "90s" durations, 64-bit integers as strings (proto3 JSON), fields with default values included.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace houtu::yaml {

/// One line, or indented by one blank a level where `pretty`.
std::string ToJson(const google::protobuf::Message& message, bool pretty = false);

}  // namespace houtu::yaml
