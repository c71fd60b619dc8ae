// The reference of a YAML file's keys, as Markdown, from the schema's comments and field rules.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace houtu::yaml {

/// `text` with each line "{{MESSAGE}}" (a message of package houtu.v1) replaced by a section with a
/// table of its keys, and one of each message that it holds; each section once in the whole text.
/// `pool` has source information. NOT_FOUND: it has no such message.
absl::StatusOr<std::string> FillTemplate(std::string_view text,
                                         const google::protobuf::DescriptorPool& pool);

}  // namespace houtu::yaml
