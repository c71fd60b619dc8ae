#include "common/yaml/text_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/yaml/loader.h"

namespace houtu::yaml {
namespace {

constexpr int kOpenBracketsMax = 100'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The length of the UTF-8 character that `text` starts with; 0: none.
size_t CharacterLength(std::string_view text) {
  const auto at = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&at](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return follows(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && at(1) < 0xA0;
    const bool surrogate = first == 0xED && at(1) >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && at(1) < 0x90;
    const bool too_large = first == 0xF4 && at(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

bool LooksLikeUtf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    return true;
  }
  return bytes.size() >= 4 &&
         ((bytes[0] == '\0' && bytes[2] == '\0') || (bytes[1] == '\0' && bytes[3] == '\0'));
}

// Why the character at the start of `text` may not stand in a file; "" if it may.
std::string Objection(std::string_view text, size_t length) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (text.starts_with(kByteOrderMark)) {
    return "second byte order mark; remove it (an editor shows nothing there: look for EF BB BF)";
  }
  const bool control = (first < 0x20 && first != '\t' && first != '\n') || first == 0x7F;
  const bool upper_control =
      length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
  if (control || upper_control) {
    const unsigned code = length == 1 ? first : static_cast<unsigned char>(text[1]);
    return fmt::format(
        "control character U+{:04X}; remove it, or write it as \"\\x{:02x}\" in double quotes",
        code, code);
  }
  return "";
}

// The first thing of `text` that may not be there.
std::optional<Problem> FindObjection(std::string_view text) {
  Problem problem{.line = 1, .column = 1};
  for (size_t i = 0; i < text.size();) {
    const size_t length = CharacterLength(text.substr(i));
    problem.text = length == 0 ? fmt::format(
                                     "not UTF-8 at line {} (byte 0x{:02x}); save the file "
                                     "as UTF-8",
                                     problem.line, static_cast<unsigned char>(text[i]))
                               : Objection(text.substr(i), length);
    if (!problem.text.empty()) {
      return problem;
    }
    const bool line_end = text[i] == '\n';
    problem.line += line_end ? 1 : 0;
    problem.column = line_end ? 1 : problem.column + 1;
    i += length;
  }
  return std::nullopt;
}

std::string WithLineFeeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') {
      out += text[i];
    }
  }
  return out;
}

// %YAML and %TAG lines, which may only stand in front of the document.
std::optional<Problem> FindDirective(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view this_line = text.substr(0, text.find('\n'));
    if (this_line.starts_with('%')) {
      return Problem{.line = line,
                     .column = 1,
                     .text = "directives are not supported; remove the line " + Quote(this_line)};
    }
    const size_t content = this_line.find_first_not_of(" \t");
    if (content != std::string_view::npos && this_line[content] != '#') {
      return std::nullopt;
    }
    text.remove_prefix(std::min(text.size(), this_line.size() + 1));
  }
  return std::nullopt;
}

// yaml-cpp keeps all tokens of an open bracket in memory before its first event, so that the depth
// can't be limited there. No file of people has this many open ones, not even within texts.
std::optional<Problem> FindOpenBrackets(std::string_view text) {
  int open = 0;
  for (const char c : text) {
    open += c == '[' || c == '{' ? 1 : 0;
    open -= (c == ']' || c == '}') && open > 0 ? 1 : 0;
    if (open > kOpenBracketsMax) {
      return Problem{.line = 1,
                     .column = 1,
                     .text = fmt::format("more than {} brackets are open, and values may be nested "
                                         "{} levels deep; close them",
                                         kOpenBracketsMax, kDepthMax)};
    }
  }
  return std::nullopt;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Problem TooLarge(size_t bytes) {
  return {
      .text = fmt::format(
          "the file is {:.1f} MB, limit {:.1f} MB ({} bytes); move large values into files that "
          "the tasks read",
          static_cast<double>(bytes) / 1e6, static_cast<double>(kFileBytesMax) / 1e6,
          kFileBytesMax)};
}

std::string CheckText(std::string_view bytes, std::vector<Problem>* problems) {
  if (bytes.size() > kFileBytesMax) {
    problems->push_back(TooLarge(bytes.size()));
    return "";
  }
  if (LooksLikeUtf16(bytes)) {
    problems->push_back(
        {.line = 1, .column = 1, .text = "not UTF-8 (looks like UTF-16); save the file as UTF-8"});
    return "";
  }
  if (bytes.starts_with(kByteOrderMark)) {
    bytes.remove_prefix(kByteOrderMark.size());
  }
  std::string text = WithLineFeeds(bytes);
  std::optional<Problem> objection = FindObjection(text);
  if (!objection) {
    objection = FindDirective(text);
  }
  if (!objection) {
    objection = FindOpenBrackets(text);
  }
  if (objection) {
    problems->push_back(*std::move(objection));
    return "";
  }
  return text;
}

}  // namespace houtu::yaml
