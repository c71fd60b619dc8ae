#include "common/yaml/json.h"

#include <google/protobuf/util/json_util.h>

#include "common/base/check.h"

namespace houtu::yaml {

std::string ToJson(const google::protobuf::Message& message, bool pretty) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  options.add_whitespace = pretty;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  HOUTU_CHECK(status.ok(), "messages without Any have a JSON form");
  return out;
}

}  // namespace houtu::yaml
