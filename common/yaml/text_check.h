// What is checked of a file's bytes before they are parsed: the parser would replace or cut
// silently what it can't read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/problem.h"

namespace houtu::yaml {

/// The text without a byte order mark in front and with LF line ends. Problems: too large, UTF-16,
/// a second byte order mark, not UTF-8 (with the line), control characters, directives.
std::string CheckText(std::string_view bytes, std::vector<Problem>* problems);

/// The problem of a file of that many bytes, more than kFileBytesMax.
Problem TooLarge(size_t bytes);

/// Whether `text` is UTF-8: no overlong forms, surrogates or code points above U+10FFFF.
bool IsUtf8(std::string_view text);

/// Number of characters (code points) of UTF-8 text.
size_t CountCharacters(std::string_view text);

}  // namespace houtu::yaml
