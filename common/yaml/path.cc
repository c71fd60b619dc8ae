#include "common/yaml/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/status.h"
#include "common/yaml/problem.h"

namespace houtu::yaml {
namespace {

constexpr size_t kIndexDigitsMax = 6;

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool IsWord(std::string_view key) {
  return !key.empty() && key.size() <= 100 && std::all_of(key.begin(), key.end(), IsWordCharacter);
}

// The step within "[...]"; `rest` starts behind the "[" and is moved behind the "]".
std::optional<PathStep> ParseBracket(std::string_view* rest) {
  const bool quoted = rest->substr(0, 1) == "\"";
  const std::string_view end = quoted ? "\"]" : "]";
  rest->remove_prefix(quoted ? 1 : 0);
  const size_t length = rest->find(end);
  if (length == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view inner = rest->substr(0, length);
  rest->remove_prefix(length + end.size());
  if (quoted) {
    return std::string(inner);
  }
  if (inner.empty() || inner.size() > kIndexDigitsMax ||
      !std::all_of(inner.begin(), inner.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return static_cast<size_t>(std::stoul(std::string(inner)));
}

}  // namespace

std::string KeyPath(std::string_view parent, std::string_view key) {
  if (!IsWord(key)) {
    return fmt::format("{}[{}]", parent, Quote(key));
  }
  return parent.empty() ? std::string(key) : fmt::format("{}.{}", parent, key);
}

std::string IndexPath(std::string_view parent, size_t index) {
  return fmt::format("{}[{}]", parent, index);
}

std::string ItemPath(std::string_view parent, std::string_view key, size_t index) {
  return IndexPath(KeyPath(parent, key), index);
}

std::string_view ParentPath(std::string_view path) {
  const size_t open = path.ends_with("\"]") ? path.rfind("[\"") : path.find_last_of(".[");
  return open == std::string_view::npos ? std::string_view() : path.substr(0, open);
}

absl::StatusOr<std::vector<PathStep>> ParsePath(std::string_view path) {
  std::vector<PathStep> steps;
  std::string_view rest = path;
  while (!rest.empty()) {
    if (rest.front() == '[') {
      rest.remove_prefix(1);
      std::optional<PathStep> step = ParseBracket(&rest);
      if (!step) {
        return Error(absl::StatusCode::kInvalidArgument,
                     "{} is no path; write a list's place as [0] and an odd key as [\"a key\"]",
                     Quote(path));
      }
      steps.push_back(*std::move(step));
      continue;
    }
    if (!steps.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
    }
    const size_t length = std::min(rest.find_first_of(".["), rest.size());
    if (length == 0) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "{} is no path; write keys with dots between, as in stages[1].tasks",
                   Quote(path));
    }
    steps.emplace_back(std::string(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  if (steps.empty()) {
    return absl::InvalidArgumentError("the path is empty; write one as in stages[1].tasks");
  }
  return steps;
}

}  // namespace houtu::yaml
