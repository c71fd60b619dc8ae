#include "client/text/utf8.h"

#include <algorithm>
#include <array>

namespace houtu::client {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array kCombining = std::to_array<Range>({{0x0300, 0x036F},
                                                        {0x0483, 0x0489},
                                                        {0x0591, 0x05BD},
                                                        {0x0610, 0x061A},
                                                        {0x064B, 0x065F},
                                                        {0x1AB0, 0x1AFF},
                                                        {0x1DC0, 0x1DFF},
                                                        {0x200B, 0x200F},
                                                        {0x20D0, 0x20FF},
                                                        {0xFE00, 0xFE0F},
                                                        {0xFE20, 0xFE2F}});
// East Asian Wide and Fullwidth (Unicode's EastAsianWidth.txt), blocks joined.
constexpr std::array kWide = std::to_array<Range>({{0x1100, 0x115F},
                                                   {0x2E80, 0x303E},
                                                   {0x3041, 0x4DBF},
                                                   {0x4E00, 0xA4CF},
                                                   {0xAC00, 0xD7A3},
                                                   {0xF900, 0xFAFF},
                                                   {0xFE30, 0xFE6F},
                                                   {0xFF00, 0xFF60},
                                                   {0xFFE0, 0xFFE6},
                                                   {0x1F300, 0x1F64F},
                                                   {0x1F900, 0x1F9FF},
                                                   {0x20000, 0x3FFFD}});

template <size_t Size>
bool Contains(const std::array<Range, Size>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](Range range) { return code >= range.first && code <= range.last; });
}

/// Bytes of the sequence that `lead` starts; 0: it can't start one.
size_t SequenceSize(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 2;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 3;
  }
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

bool IsScalar(char32_t code, size_t size) {
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  return code >= kLeast[size] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

}  // namespace

Rune NextRune(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = SequenceSize(byte(0));
  const Rune invalid{.code = byte(0), .size = 1, .valid = false};
  if (size == 0) {
    return invalid;
  }
  if (size == 1) {
    return {.code = byte(0)};
  }
  char32_t code = byte(0) & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size()) {
      return {.code = byte(0), .size = i, .valid = false, .cut = true};
    }
    if ((byte(i) & 0xC0) != 0x80) {
      return invalid;
    }
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  return IsScalar(code, size) ? Rune{.code = code, .size = size} : invalid;
}

int RuneWidth(char32_t code) {
  if (code < 0x300) {
    return 1;
  }
  if (Contains(kCombining, code)) {
    return 0;
  }
  return Contains(kWide, code) ? 2 : 1;
}

int TextWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Rune rune = NextRune(text);
    width += rune.valid ? RuneWidth(rune.code) : 1;
    text.remove_prefix(rune.size);
  }
  return width;
}

std::string_view CutToWidth(std::string_view text, int columns) {
  size_t end = 0;
  int width = 0;
  while (end < text.size()) {
    const Rune rune = NextRune(text.substr(end));
    width += rune.valid ? RuneWidth(rune.code) : 1;
    if (width > columns) {
      break;
    }
    end += rune.size;
  }
  return text.substr(0, end);
}

}  // namespace houtu::client
