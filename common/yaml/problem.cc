#include "common/yaml/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace houtu::yaml {
namespace {

constexpr size_t kQuotedBytesMax = 60;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view CutAtCharacter(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) {
    return text;
  }
  size_t end = bytes_max;
  while (end > 0 && IsContinuation(text[end])) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace

std::string Describe(std::string_view file, const Problem& problem) {
  std::string out(file);
  if (problem.line > 0) {
    out += fmt::format(":{}:{}", problem.line, problem.column);
  }
  out += ": ";
  if (!problem.path.empty()) {
    out += problem.path + ": ";
  }
  return out + problem.text;
}

std::string DescribeAll(std::string_view file, const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    out += Describe(file, problem) + "\n";
  }
  return out;
}

absl::Status ToStatus(std::string_view file, const std::vector<Problem>& problems) {
  if (problems.empty()) {
    return absl::OkStatus();
  }
  std::string text = DescribeAll(file, problems);
  text.pop_back();
  return absl::InvalidArgumentError(text);
}

void SortAndLimit(std::vector<Problem>* problems) {
  std::stable_sort(problems->begin(), problems->end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (problems->size() <= kProblemsMax) {
    return;
  }
  const size_t all = problems->size();
  problems->resize(kProblemsMax);
  problems->push_back(
      {.line = problems->back().line,
       .column = problems->back().column,
       .text = fmt::format("{} problems in all; the first {} are listed", all, kProblemsMax)});
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  const std::string_view shown = CutAtCharacter(text, kQuotedBytesMax);
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (shown.size() < text.size() ? "…\"" : "\"");
}

}  // namespace houtu::yaml
