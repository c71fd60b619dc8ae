#include "common/jobspec/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/jobspec/limits.h"
#include "common/yaml/problem.h"
#include "common/yaml/text_check.h"

namespace houtu::jobspec {
namespace {

using yaml::Quote;

constexpr std::string_view kImageForms = "write host or oci:/PATH[:TAG]";

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsPlain(char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; }

// C0, DEL and C1; the latter are C2 80 to C2 9F in UTF-8.
bool HasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool upper =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || upper) {
      return true;
    }
  }
  return false;
}

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// "" unless a part of the path (without the first "/") is empty, "." or "..".
std::string CheckParts(std::string_view path, std::string_view parts) {
  while (!parts.empty()) {
    const std::string_view part = parts.substr(0, parts.find('/'));
    if (part.empty() || part == "." || part == "..") {
      return fmt::format("{} has a part {}; write the path without it", Quote(path), Quote(part));
    }
    if (part.size() > kFileNameBytesMax) {
      return fmt::format("{} has a part of {} bytes, limit {}; use a shorter name", Quote(path),
                         part.size(), kFileNameBytesMax);
    }
    parts.remove_prefix(std::min(parts.size(), part.size() + 1));
  }
  return "";
}

// Behind the "[" of a pattern: the length up to and with its "]"; npos: it never ends. A "]" that
// comes first, or behind "!", is a member.
size_t ClassLength(std::string_view rest) {
  size_t start = !rest.empty() && (rest[0] == '!' || rest[0] == '^') ? 1 : 0;
  start += start < rest.size() && rest[start] == ']' ? 1 : 0;
  const size_t end = rest.find(']', start);
  const bool crosses = end != std::string_view::npos && rest.substr(0, end).find('/') < end;
  return end == std::string_view::npos || crosses ? std::string_view::npos : end + 1;
}

std::string CheckPattern(std::string_view path) {
  if (path.find("**") != std::string_view::npos) {
    return fmt::format(
        "{} has \"**\", but patterns match names within one folder; write a \"*\" for each level",
        Quote(path));
  }
  for (size_t at = path.find('['); at != std::string_view::npos; at = path.find('[', at)) {
    const size_t length = ClassLength(path.substr(at + 1));
    if (length == std::string_view::npos) {
      return fmt::format("{} has a \"[\" that is not closed; write [[] for a bracket of the name",
                         Quote(path));
    }
    at += 1 + length;
  }
  return "";
}

bool IsTag(std::string_view tag) {
  return !tag.empty() && tag.size() <= 128 && tag.front() != '.' && tag.front() != '-' &&
         std::all_of(tag.begin(), tag.end(), IsPlain);
}

}  // namespace

std::string CheckJobName(std::string_view name) {
  const size_t characters = yaml::CountCharacters(name);
  if (characters == 0 || characters > kJobNameCharactersMax) {
    return fmt::format("{} has {} characters; write 1 to {}", Quote(name), characters,
                       kJobNameCharactersMax);
  }
  if (HasControlCharacter(name) || !yaml::IsUtf8(name)) {
    return fmt::format("{} has a control character; write one line of text", Quote(name));
  }
  return "";
}

std::string CheckPlainName(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), IsPlain);
  if (name.empty() || name.size() > kNameBytesMax || !plain || name.front() == '.' ||
      name.front() == '-') {
    return fmt::format(
        "{} is no name; write 1 to {} letters (a-z, A-Z), digits, \"-\", \"_\" and \".\", not "
        "starting with \"-\" or \".\"",
        Quote(name), kNameBytesMax);
  }
  return "";
}

std::string CheckForeignName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || HasControlCharacter(name) ||
      name.find('/') != std::string_view::npos) {
    return fmt::format("{} is no name; write 1 to {} bytes without \"/\" and control characters",
                       Quote(name), kNameBytesMax);
  }
  return "";
}

std::string CheckImage(std::string_view image) {
  if (image == "host") {
    return "";
  }
  constexpr std::string_view kScheme = "oci:";
  if (!image.starts_with(kScheme)) {
    return fmt::format("{} is no image; {}", Quote(image), kImageForms);
  }
  std::string_view path = image.substr(kScheme.size());
  const size_t colon = path.rfind(':');
  if (colon != std::string_view::npos) {
    if (!IsTag(path.substr(colon + 1))) {
      return fmt::format("{} has no good tag behind its last \":\"; {}", Quote(image), kImageForms);
    }
    path = path.substr(0, colon);
  }
  return CheckAbsolutePath(path);
}

std::string CheckAbsolutePath(std::string_view path) {
  if (!path.starts_with('/')) {
    return fmt::format("{} is no absolute path; write it from \"/\" on", Quote(path));
  }
  if (path.size() > kPathBytesMax || HasNul(path)) {
    return fmt::format("{} has a NUL or more than {} bytes; write a shorter path", Quote(path),
                       kPathBytesMax);
  }
  return CheckParts(path, path.substr(1));
}

std::string CheckInputPath(std::string_view path) {
  if (path.ends_with('/')) {
    return fmt::format("{} is a folder; write {}* for the files in it", Quote(path),
                       path.substr(0, 100));
  }
  const std::string wrong = CheckAbsolutePath(path);
  return wrong.empty() ? CheckPattern(path) : wrong;
}

std::string CheckFileName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > kFileNameBytesMax ||
      name.find('/') != std::string_view::npos || HasNul(name)) {
    return fmt::format("{} is no file name; write 1 to {} bytes without \"/\"", Quote(name),
                       kFileNameBytesMax);
  }
  return "";
}

std::string CheckVariableName(std::string_view name) {
  if (name.empty() || name.find('=') != std::string_view::npos || HasNul(name)) {
    return fmt::format("{} is no variable's name; write one without \"=\" and NUL", Quote(name));
  }
  if (name.starts_with("HOUTU_")) {
    return fmt::format("{} is set by Houtu itself; write a name that does not start with HOUTU_",
                       Quote(name));
  }
  return "";
}

std::string CheckArgument(std::string_view text) {
  if (HasNul(text)) {
    return fmt::format("{} has a NUL, which no program can be given; put it into a file",
                       Quote(text));
  }
  if (text.size() > kArgumentBytesMax) {
    return fmt::format("is {} bytes, limit {}; put it into a file that the task reads", text.size(),
                       kArgumentBytesMax);
  }
  return "";
}

}  // namespace houtu::jobspec
