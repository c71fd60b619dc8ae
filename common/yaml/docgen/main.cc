// houtu-docgen [--check] DESCRIPTORS TEMPLATE OUTPUT: writes OUTPUT from TEMPLATE and the schema's
// comments, or checks that it is up to date. DESCRIPTORS comes from protoc --descriptor_set_out
// with
// --include_imports and --include_source_info. Exit status 0 done, 1 differs, 2 wrong use.
#include <google/protobuf/descriptor.pb.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status.h"
#include "common/yaml/docgen/reference.h"
#include "common/yaml/field_rules.h"

namespace houtu::yaml {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error(absl::StatusCode::kNotFound, "{} can't be read", path);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::Status FillPool(const std::string& path, google::protobuf::DescriptorPool* pool) {
  HOUTU_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  google::protobuf::FileDescriptorSet files;
  if (!files.ParseFromString(bytes)) {
    return Error(absl::StatusCode::kInvalidArgument, "{} is no descriptor set", path);
  }
  for (const google::protobuf::FileDescriptorProto& file : files.file()) {
    if (pool->BuildFile(file) == nullptr) {
      return Error(absl::StatusCode::kInvalidArgument, "{}: {} does not build", path, file.name());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Generate(const std::string& descriptors,
                                     const std::string& template_path) {
  google::protobuf::DescriptorPool pool;
  HOUTU_RETURN_IF_ERROR(FillPool(descriptors, &pool));
  HOUTU_ASSIGN_OR_RETURN(const std::string text, ReadFile(template_path));
  return FillTemplate(text, pool);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "houtu-docgen: %s\n", Message(status).c_str());
  return 2;
}

int Run(bool check, const std::vector<std::string>& paths) {
  const absl::StatusOr<std::string> text = Generate(paths[0], paths[1]);
  if (!text.ok()) {
    return Fail(text.status());
  }
  if (!check) {
    std::ofstream out(paths[2], std::ios::binary);
    out << *text;
    out.close();
    return out ? 0 : Fail(absl::InternalError(paths[2] + " can't be written"));
  }
  const absl::StatusOr<std::string> present = ReadFile(paths[2]);
  if (present.ok() && *present == *text) {
    return 0;
  }
  std::fprintf(stderr, "%s differs from the schema's comments; build the target docs\n",
               paths[2].c_str());
  return 1;
}

}  // namespace
}  // namespace houtu::yaml

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool check = !arguments.empty() && arguments[0] == "--check";
  if (check) {
    arguments.erase(arguments.begin());
  }
  if (arguments.size() != 3) {
    std::fprintf(stderr, "usage: houtu-docgen [--check] DESCRIPTORS TEMPLATE OUTPUT\n");
    return 2;
  }
  // The schema's options must be known before a descriptor set that holds them is parsed.
  houtu::v1::FieldRule::descriptor();
  return houtu::yaml::Run(check, arguments);
}
