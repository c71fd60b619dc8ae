#include "common/yaml/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "common/yaml/binder.h"
#include "common/yaml/document.h"
#include "common/yaml/override.h"
#include "common/yaml/text_check.h"

namespace houtu::yaml {
namespace {

void Bind(const Node& root, google::protobuf::Message* out, SourceMap* places,
          std::vector<Problem>* problems) {
  if (root.kind == Node::Kind::kRefused) {
    return;
  }
  if (root.kind != Node::Kind::kMapping) {
    problems->push_back(
        {.line = 1, .column = 1, .text = "the file is no mapping; write KEY: VALUE lines"});
    return;
  }
  places->Set("", {.line = 1, .column = 1});
  Binder(problems, places).BindMessage(root, "", out);
}

std::vector<Problem> Unreadable(const char* what) {
  const int error = errno;
  return {{.text = fmt::format("{}: {}; name a file that can be read", what,
                               std::error_code(error, std::generic_category()).message())}};
}

}  // namespace

std::vector<Problem> LoadYaml(std::string_view text, google::protobuf::Message* out,
                              const LoadOptions& options) {
  out->Clear();
  std::vector<Problem> problems;
  const std::string checked = CheckText(text, &problems);
  if (!problems.empty()) {
    return problems;
  }
  bool complete = true;
  Node root = ParseDocument(checked, &problems, &complete);
  SourceMap own_places;
  if (complete) {
    for (const std::string& assignment : options.overrides) {
      ApplyOverride(assignment, &root, &problems);
    }
    Bind(root, out, options.places != nullptr ? options.places : &own_places, &problems);
  }
  SortAndLimit(&problems);
  return problems;
}

std::vector<Problem> LoadYamlFile(const std::string& path, google::protobuf::Message* out,
                                  const LoadOptions& options) {
  out->Clear();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Unreadable("can't be opened");
  }
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || errno == EISDIR) {
    return Unreadable("can't be read");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    file.clear();
    file.seekg(0, std::ios::end);
    const std::streamoff size = file.tellg();
    return {
        TooLarge(std::max(text.size(), static_cast<size_t>(std::max<std::streamoff>(size, 0))))};
  }
  return LoadYaml(text, out, options);
}

}  // namespace houtu::yaml
