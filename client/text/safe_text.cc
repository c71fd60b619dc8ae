#include "client/text/safe_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "client/text/utf8.h"

namespace houtu::client {
namespace {

/// C0, DEL, C1, line separators and the characters that turn the direction of reading.
bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string EscapeRune(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x100 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(code))
                          : fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
  }
}

void AppendEscaped(std::string_view text, const Rune& rune, std::string* out) {
  if (rune.valid) {
    *out += IsControl(rune.code) ? EscapeRune(rune.code) : std::string(text.substr(0, rune.size));
    return;
  }
  for (const char byte : text.substr(0, rune.size)) {
    *out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

}  // namespace

std::string SafeTextStream::Feed(std::string_view piece) {
  held_ += piece;
  return Convert(std::exchange(held_, {}), false);
}

std::string SafeTextStream::Finish() { return Convert(std::exchange(held_, {}), true); }

std::string SafeTextStream::Convert(std::string_view text, bool at_end) {
  std::string out;
  while (!text.empty()) {
    const Rune rune = NextRune(text);
    if (!at_end && (rune.cut || text == "\r")) {
      held_ = text;
      break;
    }
    if (text.starts_with("\r\n")) {
      text.remove_prefix(1);
      continue;
    }
    if (text[0] == '\n' || text[0] == '\t') {
      out += text[0];
    } else {
      AppendEscaped(text, rune, &out);
    }
    text.remove_prefix(rune.size);
  }
  return out;
}

std::string SafeLine(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Rune rune = NextRune(text);
    AppendEscaped(text, rune, &out);
    text.remove_prefix(rune.size);
  }
  return out;
}

}  // namespace houtu::client
