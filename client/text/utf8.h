// UTF-8, read character by character, as terminals show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace houtu::client {

/// The character at the start of a text.
struct Rune {
  char32_t code = 0;
  /// Bytes it takes, from 1; of an invalid or cut sequence: the bytes to treat as one.
  size_t size = 1;
  bool valid = true;
  /// The text ends within a sequence that may still become valid.
  bool cut = false;
};

/// Precondition: `text` is not empty. Overlong forms, surrogates and codes over 10FFFF are invalid.
Rune NextRune(std::string_view text);

/// Columns that a terminal gives the character: 0 for combining marks, 2 for wide ones, else 1.
int RuneWidth(char32_t code);

/// Columns of `text`; an invalid byte counts 1.
int TextWidth(std::string_view text);

/// The longest start of `text` that takes at most `columns`.
std::string_view CutToWidth(std::string_view text, int columns);

}  // namespace houtu::client
