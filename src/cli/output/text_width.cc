// SPDX-License-Identifier: Apache-2.0
#include "cli/output/text_width.h"

#include <array>

namespace berth::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The blocks that matter in names and messages, not all of Unicode's tables.
constexpr std::array kZeroWidth = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x064B, 0x065F},
    Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFEFF, 0xFEFF}};
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t c) {
  return std::ranges::any_of(ranges,
                             [c](Range range) { return range.first <= c && c <= range.last; });
}

std::size_t width_of(char32_t c) {
  if (is_in(kZeroWidth, c)) return 0;
  return is_in(kWide, c) ? 2 : 1;
}

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  if (length == 1 || at + length > text.size()) return {byte, 1};
  char32_t code = byte & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  }
  return {code, length};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    width += width_of(character.code);
    at += character.bytes;
  }
  return width;
}

std::string truncated(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (width + width_of(character.code) > columns - 1) break;
    width += width_of(character.code);
    at += character.bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  std::string result(text);
  if (width < columns) result.append(columns - width, ' ');
  return result;
}

}  // namespace berth::cli
