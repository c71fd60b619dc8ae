#include "client/text/json_text.h"

#include <fmt/format.h>

#include "client/text/utf8.h"

namespace houtu::client {

std::string JsonString(std::string_view text) {
  std::string out(1, '"');
  while (!text.empty()) {
    const Rune rune = NextRune(text);
    if (!rune.valid) {
      out += "\\ufffd";
    } else if (rune.code == '"' || rune.code == '\\') {
      out += '\\';
      out += text[0];
    } else if (rune.code < 0x20 || rune.code == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(rune.code));
    } else {
      out += text.substr(0, rune.size);
    }
    text.remove_prefix(rune.size);
  }
  return out + "\"";
}

}  // namespace houtu::client
